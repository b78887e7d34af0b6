import { AppError } from "../protocol/errors.ts";
import type { AuditReads } from "./deps.ts";
import { callerOf, type Handler } from "./handler.ts";

export function verifyAuditRoute(audit: AuditReads): Handler {
  return async (context) => {
    const { fromSeq, toSeq } = context.query as { fromSeq: number; toSeq: number };
    if (toSeq < fromSeq) throw new AppError("validation_error", { problem: "toSeq must not be less than fromSeq" });
    return { status: 200, json: await audit.verify(callerOf(context).tenant, fromSeq, toSeq) };
  };
}

const DEFAULT_LIMIT = 200;

/** Entries in order with the checkpoints that cover them, so that a copy kept elsewhere can be verified there. */
export function listAuditEntriesRoute(audit: AuditReads): Handler {
  return async (context) => {
    const { tenant } = callerOf(context);
    const { store } = context.host;
    const { fromSeq = 1, limit = DEFAULT_LIMIT } = context.query as { fromSeq?: number; limit?: number };
    const found = await store.readAudit(tenant, fromSeq, Number.MAX_SAFE_INTEGER, limit + 1);
    const entries = found.slice(0, limit);
    const lastSeq = entries.at(-1)?.atSequence;
    const stored = lastSeq === undefined ? [] : await store.readCheckpoints(tenant, fromSeq, lastSeq);
    const checkpoints = stored.map(({ checkpoint, atSequence, merkleRoot, signature }) => ({
      checkpoint,
      atSequence,
      merkleRoot,
      signature,
    }));
    const more = found.length > limit && lastSeq !== undefined ? { nextSeq: lastSeq + 1 } : {};
    return { status: 200, json: { entries, checkpoints, publicKey: audit.publicKey, ...more } };
  };
}
