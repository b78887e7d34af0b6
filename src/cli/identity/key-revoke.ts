import type { KeyInfo } from "../../protocol/runs/api.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import type { KEY_REVOKE_FLAGS } from "./commands.ts";
import { withIdentity } from "./identity-client.ts";

export async function keyRevoke(call: Call<typeof KEY_REVOKE_FLAGS>): Promise<undefined> {
  const { args, json, io } = call;
  const revoked = await withIdentity(call, async (identity) => {
    const done: KeyInfo[] = [];
    for (const keyId of args) done.push(await identity.revokeKey(keyId));
    return done;
  });
  if (json) io.out(JSON.stringify({ keys: revoked }));
  for (const { keyId, principal, revokedAt } of json ? [] : revoked) {
    io.out(printable(`${keyId} of ${principal} revoked at ${revokedAt}`));
  }
}
