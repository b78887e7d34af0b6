import { asServed, verifyAudit } from "../../engine/audit/verify.ts";
import type { AUDIT_OPERATIONS } from "../../protocol/audit/operations.ts";
import type { Audit } from "../../store/port/store.ts";
import type { AuditSettings } from "../pipeline/deps.ts";
import type { HandlersOf } from "../pipeline/handler.ts";
import { ok } from "../pipeline/reply.ts";

const DEFAULT_LIMIT = 200;

export function auditRoutes({ verifier, anchors }: AuditSettings): HandlersOf<typeof AUDIT_OPERATIONS> {
  return {
    verifyAudit: async ({ host, caller: { tenant }, query: { fromSeq, toSeq } }) => {
      const anchor = await anchors?.read(tenant);
      return ok(await verifyAudit(host.store, verifier, tenant, fromSeq, toSeq, anchor));
    },
    // Entries in order with the checkpoints that end among them, so that a copy kept elsewhere can be verified there.
    listAuditEntries: async ({
      host: { store },
      caller: { tenant },
      query: { fromSeq = 1, limit = DEFAULT_LIMIT },
    }) => {
      const { publicKey, earlierPublicKeys } = verifier;
      const keys = earlierPublicKeys.length === 0 ? { publicKey } : { publicKey, earlierPublicKeys };
      const entries = await store.readAudit(tenant, fromSeq, Number.MAX_SAFE_INTEGER, limit);
      const lastSeq = entries.at(-1)?.atSequence;
      const checkpoints = lastSeq === undefined ? [] : await store.readCheckpoints(tenant, fromSeq, lastSeq);
      const isMore = lastSeq !== undefined && (await isThere(store, tenant, lastSeq + 1));
      const more = isMore ? { nextSeq: lastSeq + 1 } : {};
      return ok({ entries, checkpoints: checkpoints.map(asServed), ...keys, ...more });
    },
  };
}

async function isThere(store: Pick<Audit, "readAudit">, tenant: string, fromSeq: number): Promise<boolean> {
  return (await store.readAudit(tenant, fromSeq, Number.MAX_SAFE_INTEGER, 1)).length > 0;
}
