import type { AuditCheckpoint, AuditVerifyResult } from "../../protocol/audit/audit.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Audit, StoredCheckpoint } from "../../store/port/store.ts";
import { type Anchor, anchorConflict, LAST_SEQ, strayCheckpoint } from "./anchor.ts";
import { ChainLinks } from "./chain-links.ts";
import { CheckpointSeries } from "./checkpoint-series.ts";
import { isUnreadable, readChain } from "./read-chain.ts";
import type { AuditVerifier } from "./signer.ts";

/**
 * Walks a tenant's chain and checks it against itself, against its end as the store knows it, and against the signed
 * checkpoints that end in the range. Every hash is computed from the rows' content. The answer repeats the range that
 * was asked for; only the walk keeps to the log. Throws `validation_error` for a range that is none.
 *
 * A log cut off together with its head and all later checkpoints shows only against the anchor of the signing key, which is checked
 * where the range covers it or reaches the end of the log, or against an export.
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
  // In this order: the head is read last and so is never behind a checkpoint, unless somebody moved it.
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

  // One entry more on either side: the hash of the last entry stands in the one after it.
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
  if (!natural(fromSeq) || !natural(toSeq)) {
    throw new AppError("validation_error", { problem: "fromSeq and toSeq must be integers of 0 or more" });
  }
  if (toSeq < fromSeq) {
    throw new AppError("validation_error", { problem: "toSeq must not be smaller than fromSeq" });
  }
}

/** The first checkpoint of the range must begin at the start of the log or where another one ends. */
async function followsAnother(store: Audit, tenant: string, first: StoredCheckpoint | undefined): Promise<boolean> {
  if (first === undefined || first.prevSequence === 0) return true;
  const { prevSequence } = first;
  return prevSequence > 0 && (await store.readCheckpoints(tenant, prevSequence, prevSequence)).length > 0;
}

/** Entries beyond the head, however far, were put there by hand, unless the head has moved on since it was read. */
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
    // There is one that cannot be read, and so no telling where.
    return Number.MAX_SAFE_INTEGER;
  }
}

export function asServed({ checkpoint, atSequence, merkleRoot, signature }: AuditCheckpoint): AuditCheckpoint {
  return { checkpoint, atSequence, merkleRoot, signature };
}
