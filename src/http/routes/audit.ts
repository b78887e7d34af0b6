import type { AuditVerifier } from "../../engine/audit/signer.ts";
import { asServed, verifyAudit } from "../../engine/audit/verify.ts";
import type { AuditSettings } from "../pipeline/deps.ts";
import { callerOf, type Handler } from "../pipeline/handler.ts";

export function verifyAuditRoute({ verifier, anchors }: AuditSettings): Handler {
  return async (context) => {
    const { fromSeq, toSeq } = context.query as { fromSeq: number; toSeq: number };
    const { tenant } = callerOf(context);
    const anchor = await anchors?.read(tenant);
    return { status: 200, json: await verifyAudit(context.host.store, verifier, tenant, fromSeq, toSeq, anchor) };
  };
}

const DEFAULT_LIMIT = 200;

/** Entries in order with the checkpoints that end among them, so that a copy kept elsewhere can be verified there. */
export function listAuditEntriesRoute({ publicKey, earlierPublicKeys }: AuditVerifier): Handler {
  return async (context) => {
    const keys = earlierPublicKeys.length === 0 ? { publicKey } : { publicKey, earlierPublicKeys };
    const { tenant } = callerOf(context);
    const { store } = context.host;
    const { fromSeq = 1, limit = DEFAULT_LIMIT } = context.query as { fromSeq?: number; limit?: number };
    const found = await store.readAudit(tenant, fromSeq, Number.MAX_SAFE_INTEGER, limit + 1);
    const entries = found.slice(0, limit);
    const lastSeq = entries.at(-1)?.atSequence;
    const checkpoints = lastSeq === undefined ? [] : await store.readCheckpoints(tenant, fromSeq, lastSeq);
    const more = found.length > limit && lastSeq !== undefined ? { nextSeq: lastSeq + 1 } : {};
    return { status: 200, json: { entries, checkpoints: checkpoints.map(asServed), ...keys, ...more } };
  };
}
