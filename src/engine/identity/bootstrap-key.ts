import { EVERY_SCOPE } from "../../protocol/identity/scopes.ts";
import { onceOnly } from "../shared/once-only.ts";
import { RecordedOutcome } from "../shared/recorded-outcome.ts";
import { hashOfKey, newApiKey } from "./api-key.ts";
import { commitKeys, type KeyHost } from "./keys.ts";

const TENANT = "default";
const PRINCIPAL = "owner";
/** As good as for ever: there is one first start. */
const FOR_MS = 100 * 365 * 24 * 3_600_000;

/**
 * On the first start of all, makes an owner's key and returns it, to be shown once; undefined when there are keys
 * already. Of several processes that start on one empty database, one gets the key.
 */
export async function bootstrapOwnerKey(host: KeyHost): Promise<string | undefined> {
  if (await host.store.hasKeys()) return undefined;
  const key = newApiKey();
  const keyId = host.newId("key");
  const nowMs = host.nowMs();
  const who = { tenant: TENANT, principal: PRINCIPAL };
  try {
    await commitKeys(host, {
      tenant: TENANT,
      keys: [
        {
          type: "put",
          key: {
            ...who,
            keyId,
            hash: hashOfKey(key),
            kind: "user",
            scopes: [EVERY_SCOPE],
            label: "made at first start",
            createdAtMs: nowMs,
          },
        },
      ],
      roles: [{ ...who, roles: ["owner"] }],
      audit: [
        {
          occurredAt: new Date(nowMs).toISOString(),
          actor: "host",
          action: "key.created",
          target: keyId,
          details: { principal: PRINCIPAL, kind: "user", scopes: EVERY_SCOPE, roles: "owner", source: "first start" },
        },
      ],
      idempotency: onceOnly({ tenant: TENANT, what: "first start", subject: "owner", nowMs, forMs: FOR_MS }),
    });
  } catch (error) {
    if (error instanceof RecordedOutcome) return undefined;
    throw error;
  }
  return key;
}
