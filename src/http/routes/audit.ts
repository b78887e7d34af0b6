import { asServed, verifyAudit } from "../../engine/audit/verify.ts";
import type { AUDIT_OPERATIONS } from "../../protocol/audit/operations.ts";
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
      const found = await store.readAudit(tenant, fromSeq, Number.MAX_SAFE_INTEGER, limit + 1);
      const entries = found.slice(0, limit);
      const lastSeq = entries.at(-1)?.atSequence;
      const checkpoints = lastSeq === undefined ? [] : await store.readCheckpoints(tenant, fromSeq, lastSeq);
      const more = found.length > limit && lastSeq !== undefined ? { nextSeq: lastSeq + 1 } : {};
      return ok({ entries, checkpoints: checkpoints.map(asServed), ...keys, ...more });
    },
  };
}
