import type { AuditCheckpoint, AuditVerifyResult } from "../../protocol/audit/audit.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { Audit, StoredCheckpoint } from "../../store/port/store.ts";
import { type Anchor, anchorConflict, LAST_SEQ, strayCheckpoint } from "./anchor.ts";
import { ChainLinks, isUnreadable, readChain } from "./chain.ts";
import { CheckpointSeries } from "./checkpoint-series.ts";
import type { AuditVerifier } from "./signer.ts";

/**
 * Checks a tenant's chain against itself, against its head in the store, and against the signed checkpoints that end in the range. Each hash is
 * computed from the content of the rows. Throws `validation_error` for an invalid range.
 *
 * A log that was cut off together with its head and all later checkpoints differs only from the anchor of the signing key, which is checked where
 * the range includes it or reaches the end of the log, and from an export.
 */
export async function verifyAudit(
  store: Audit,
  verifier: AuditVerifier,
  tenant: string,
  fromSeq: number,
  toSeq: number,
  anchor?: Anchor,
): Promise<AuditVerifyResult> {
  checkRange(fromSeq, toSeq);
  // The head is read last, so it is never before a checkpoint unless it was changed by hand.
  const checkpoints = await store.readCheckpoints(tenant, fromSeq, toSeq);
  const head = (await store.auditHead(tenant)) ?? { seq: 0, hash: "" };

  const first = Math.max(1, fromSeq);
  const lastCheckpointSeq = checkpoints.at(-1)?.atSequence ?? 0;
  const last = Math.min(toSeq, Math.max(head.seq, lastCheckpointSeq));
  // A checkpoint that ends in the range may begin before it.
  const start = Math.max(1, Math.min(first, (checkpoints[0]?.prevSequence ?? first) + 1));
  const series = new CheckpointSeries(verifier, checkpoints[0]?.prevSequence ?? 0);
  for (const checkpoint of checkpoints) series.checkpoint(checkpoint);
  if (!(await followsAnother(store, tenant, checkpoints[0]))) series.valid = false;

  // One more entry on either side: the hash of the last entry is in the next one.
  const walkFrom = Math.max(1, start - 1);
  const links = new ChainLinks(walkFrom, walkFrom === 1 ? null : undefined);
  const anomalies = links.anomalies;
  if (last >= first) {
    for await (const page of readChain(store, tenant, walkFrom, Math.max(last, Math.min(toSeq + 1, head.seq)))) {
      for (const item of page) {
        const { atSequence } = item;
        const hash = isUnreadable(item) ? links.takeUnreadable(atSequence) : links.take(item);
        if (atSequence <= lastCheckpointSeq) series.entry(atSequence, hash);
        if (atSequence === head.seq && head.seq <= toSeq && hash !== undefined && hash !== head.hash) {
          anomalies.push({ atSeq: head.seq, expectedPrevHash: hash, actualPrevHash: head.hash });
        }
      }
    }
    links.expectThrough(last);
  }
  series.end();
  if (toSeq > head.seq) await expectNothingAfter(store, tenant, Math.max(head.seq + 1, first), links);
  if (toSeq >= head.seq && (await strayCheckpoint(store, tenant)) !== undefined) series.valid = false;

  const inRange = anomalies.filter(({ atSeq }) => atSeq >= first);
  const isAnchored = anchor !== undefined && anchor.seq >= first && (anchor.seq <= toSeq || toSeq >= head.seq);
  const conflict = isAnchored ? await anchorConflict(store, tenant, anchor) : undefined;
  if (conflict?.anomaly !== undefined) inRange.push(conflict.anomaly);
  else if (conflict !== undefined) series.valid = false;
  return {
    fromSeq,
    toSeq,
    chainValid: inRange.length === 0 && series.valid,
    checkpointsValid: series.valid,
    checkpoints: checkpoints.map(asServed),
    anomalies: inRange,
  };
}

function checkRange(fromSeq: number, toSeq: number): void {
  const natural = (seq: number) => Number.isSafeInteger(seq) && seq >= 0;
  if (!natural(fromSeq) || !natural(toSeq)) throw validationError("fromSeq and toSeq must be integers of 0 or more");
  if (toSeq < fromSeq) throw validationError("toSeq must not be smaller than fromSeq");
}

/** Whether the first checkpoint of the range begins at the start of the log or at the end of another one. */
async function followsAnother(store: Audit, tenant: string, first: StoredCheckpoint | undefined): Promise<boolean> {
  if (first === undefined || first.prevSequence === 0) return true;
  const { prevSequence } = first;
  return prevSequence > 0 && (await store.readCheckpoints(tenant, prevSequence, prevSequence)).length > 0;
}

/** Reports entries after the head: they were written by hand, unless the head has moved since it was read. */
async function expectNothingAfter(store: Audit, tenant: string, fromSeq: number, links: ChainLinks): Promise<void> {
  const seq = await entryFrom(store, tenant, fromSeq);
  if (seq === undefined) return;
  const head = await store.auditHead(tenant);
  if ((head?.seq ?? 0) < seq) links.takeUnreadable(seq);
}

async function entryFrom(store: Audit, tenant: string, fromSeq: number): Promise<number | undefined> {
  try {
    const [entry] = await store.readAudit(tenant, fromSeq, LAST_SEQ, 1);
    return entry?.atSequence;
  } catch (error) {
    if (error instanceof AppError) throw error;
    // An entry that cannot be read has no known sequence.
    return Number.MAX_SAFE_INTEGER;
  }
}

export function asServed({ checkpoint, atSequence, merkleRoot, signature }: AuditCheckpoint): AuditCheckpoint {
  return { checkpoint, atSequence, merkleRoot, signature };
}
