import { readFileSync } from "node:fs";
import type { Environment } from "../settings/config.ts";
import { otlpHeaders, parseTokenKeys } from "../settings/setting-formats.ts";
import type { Config } from "../settings/settings.ts";
import { agentsFileOf, keysNamedIn } from "./agent-bindings.ts";
import { readKeyFile } from "./key-file.ts";

type Secrets = Pick<
  Config,
  | "databaseUrl"
  | "tokenKeys"
  | "key"
  | "keys"
  | "auditKey"
  | "auditRootSecret"
  | "otlpHeaders"
  | "reviewModelKeyEnv"
  | "canarySecret"
  | "agents"
>;

/**
 * The secrets that this process was given. Those that tenants bring, such as what they sign their webhooks with, are not
 * among them: a word that one tenant calls a secret would vanish from the texts of all others, who could find it out
 * that way.
 */
export function knownSecrets(config: Secrets, env: Environment): string[] {
  const { databaseUrl, tokenKeys, key, keys, auditKey } = config;
  const modelKey = env[config.reviewModelKeyEnv];
  const headers = config.otlpHeaders;
  return [
    ...(databaseUrl === undefined ? [] : [databaseUrl, ...passwordsOf(databaseUrl)]),
    ...(tokenKeys === undefined ? [] : orNone(() => parseTokenKeys(tokenKeys).map(({ secret }) => secret))),
    ...(headers === undefined ? [] : orNone(() => Object.values(otlpHeaders(headers)))),
    ...(key === undefined ? [] : [key]),
    ...(config.auditRootSecret === undefined ? [] : [config.auditRootSecret]),
    ...(config.canarySecret === undefined ? [] : [config.canarySecret]),
    ...orNone(() => keysNamedIn(agentsFileOf(config), env)),
    ...(modelKey === undefined || modelKey === "" ? [] : [modelKey]),
    ...(keys === undefined ? [] : orNone(() => readKeyFile(keys).map((entry) => entry.key))),
    ...(auditKey === undefined ? [] : orNone(() => linesOf(readFileSync(auditKey, "utf8")))),
  ];
}

/** As it is written in the address, and as it is. */
function passwordsOf(url: string): string[] {
  return orNone(() => {
    const { password } = new URL(url);
    return [password, decodeURIComponent(password)];
  });
}

/** A key that lost its first and last line is still one. */
function linesOf(pem: string): string[] {
  return pem.split(/\s*\n/).filter((line) => !line.startsWith("-----"));
}

/** Whoever needs what cannot be read says so, and better. */
function orNone(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return [];
  }
}
