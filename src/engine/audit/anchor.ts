import { entryHash } from "../../formats/audit/audit-entry-hash.ts";
import type { AuditAnomaly } from "../../protocol/audit/audit.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Audit } from "../../store/port/store.ts";

/** The point of a tenant's chain up to which this host has signed, kept outside the database. */
export interface Anchor {
  readonly seq: number;
  /** Of the entry at `seq`. It covers every entry before, because each entry holds the hash of the one before it. */
  readonly hash: string;
  /** The last checkpoint that is known to be stored; absent until the first is. */
  readonly checkpoint?: { readonly atSequence: number; readonly merkleRoot: string };
}

/** Anchors of all tenants. Every call reads what is stored now: other processes may share them, and an operator may accept a rollback. */
export interface Anchors {
  /** Throws `audit_anchor_unusable` for anchors that cannot be read. */
  read(tenant: string): Promise<Anchor | undefined>;
  /** Every tenant that has an anchor. */
  tenants(): Promise<string[]>;
  /** Durable when it returns. Called within `hold` of the tenant. */
  write(tenant: string, anchor: Anchor): Promise<void>;
  /** Runs `work` while no other process that shares the anchors does so for the tenant. */
  hold<T>(tenant: string, work: () => Promise<T>): Promise<T>;
}

/** A chain that does not contain what was signed before. */
interface AnchorConflict {
  /** Where the chain differs from the anchor. */
  readonly atSeq: number;
  readonly problem: string;
  readonly anomaly?: AuditAnomaly;
}

/** Two reads by key, whatever the length of the chain. */
export async function anchorConflict(
  store: Pick<Audit, "readAudit" | "readCheckpoints">,
  tenant: string,
  { seq, hash, checkpoint }: Anchor,
): Promise<AnchorConflict | undefined> {
  const found = await hashAt(store, tenant, seq);
  if (found !== hash) {
    const anomaly = { atSeq: seq, expectedPrevHash: hash, actualPrevHash: found ?? "" };
    const problem =
      found === undefined
        ? `entry ${seq}, which was signed before, is not there: the log was cut off or the database rolled back`
        : `entry ${seq} is not the one that was signed before: the log was written anew`;
    return { atSeq: seq, problem, anomaly };
  }
  if (checkpoint === undefined) return undefined;
  const { atSequence, merkleRoot } = checkpoint;
  const [stored] = await store.readCheckpoints(tenant, atSequence, atSequence);
  if (stored?.merkleRoot === merkleRoot) return undefined;
  const what = stored === undefined ? "is not there" : "has another root";
  return { atSeq: atSequence, problem: `the checkpoint at entry ${atSequence}, which was signed before, ${what}` };
}

async function hashAt(store: Pick<Audit, "readAudit">, tenant: string, seq: number): Promise<string | undefined> {
  try {
    const [entry] = await store.readAudit(tenant, seq, seq, 1);
    return entry === undefined ? undefined : entryHash(entry);
  } catch (error) {
    if (error instanceof AppError) throw error;
    // An entry that is no JSON, or has no canonical form, was put there by hand.
    return "unreadable";
  }
}

export function conflictError(tenant: string, { problem, atSeq }: AnchorConflict): AppError {
  return new AppError("audit_anchor_conflict", { tenant, problem, atSeq });
}

/** The last number of a sequence that both databases and a number of this language can hold. */
export const LAST_SEQ = 2 ** 63 - 1024;

/**
 * A checkpoint whose end is no entry of the log. It was put there by hand: one behind the head would make the log look signed, one before
 * the first entry takes the place of another.
 */
export async function strayCheckpoint(
  store: Pick<Audit, "auditHead" | "readCheckpoints">,
  tenant: string,
): Promise<AnchorConflict | undefined> {
  const [before] = await store.readCheckpoints(tenant, -LAST_SEQ, 0, 1);
  if (before !== undefined) return strayAt(before.atSequence);
  const head = await store.auditHead(tenant);
  const [after] = await store.readCheckpoints(tenant, (head?.seq ?? 0) + 1, LAST_SEQ, 1);
  if (after === undefined) return undefined;
  // The log may have grown, and have been signed, since its head was read.
  const now = await store.auditHead(tenant);
  return after.atSequence > (now?.seq ?? 0) ? strayAt(after.atSequence) : undefined;
}

function strayAt(atSeq: number): AnchorConflict {
  const problem = `table audit_checkpoints has a checkpoint at entry ${atSeq}, which is no entry of the log: find out who put it there, and remove it`;
  return { atSeq: Math.max(0, atSeq), problem };
}
