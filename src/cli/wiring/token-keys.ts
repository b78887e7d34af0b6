import { randomBytes } from "node:crypto";
import { type InterruptTokens, tokenKeys } from "../../engine/gates/interrupt-token.ts";
import type { Store } from "../../store/port/store.ts";
import { HOST_KID, parseTokenKeys } from "../settings/setting-formats.ts";
import type { Config } from "../settings/settings.ts";

/**
 * The tokens of every process on one database: signed with the first key of `--token-keys`, or with a secret that the
 * first start made. That secret goes on verifying when keys are given, so that giving them cuts nobody off.
 */
export async function tokensFor(
  store: Pick<Store, "hostSecret">,
  config: Pick<Config, "tokenKeys" | "tokenTtl">,
  nowMs: () => number,
): Promise<InterruptTokens> {
  const own = { kid: HOST_KID, secret: await ownTokenSecret(store) };
  const given = config.tokenKeys === undefined ? [] : parseTokenKeys(config.tokenKeys);
  const [first = own, ...rest] = [...given, own];
  return tokenKeys({ keys: [first, ...rest], nowMs, ttlMs: config.tokenTtl * 1000 });
}

/** The secret in the database, made by whoever asks first. */
export function ownTokenSecret(store: Pick<Store, "hostSecret">): Promise<string> {
  return store.hostSecret("interrupt-token", () => randomBytes(32).toString("base64url"));
}
