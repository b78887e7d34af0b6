import { entryHash } from "../../formats/audit/audit-entry-hash.ts";
import type { AuditAnomaly } from "../../protocol/audit/audit.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Audit } from "../../store/port/store.ts";
import type { Host } from "../host.ts";

/** The point of a tenant's chain up to which this host has signed, kept outside the database. */
export interface Anchor {
  readonly seq: number;
  /** The hash of the entry at `seq`. It covers all entries before, because each entry has the hash of the one before it. */
  readonly hash: string;
  /** The last checkpoint that is known to be stored, if any. */
  readonly checkpoint?: { readonly atSequence: number; readonly merkleRoot: string };
}

/** The anchors of all tenants. Each call reads the stored state: other processes may share the anchors, and an operator may accept a rollback. */
export interface Anchors {
  /** Throws `audit_anchor_unusable` for anchors that cannot be read. */
  read(tenant: string): Promise<Anchor | undefined>;
  /** The tenants with an anchor. */
  tenants(): Promise<string[]>;
  /** Durable on return. Called within `hold` of the tenant. */
  write(tenant: string, anchor: Anchor): Promise<void>;
  /** Runs `work` while no other process that shares the anchors does so for the tenant. */
  hold<T>(tenant: string, work: () => Promise<T>): Promise<T>;
}

/** A chain that does not contain the signed entries. */
interface AnchorConflict {
  /** The entry at which the chain differs from the anchor. */
  readonly atSeq: number;
  readonly problem: string;
  readonly anomaly?: AuditAnomaly;
}

/** The conflict of a chain with its anchor, found by two reads for any length of the chain. */
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
    // An entry that is no JSON, or has no canonical form, was written by hand.
    return "unreadable";
  }
}

export function conflictError(tenant: string, { problem, atSeq }: AnchorConflict): AppError {
  return new AppError("audit_anchor_conflict", { tenant, problem, atSeq });
}

/** The largest sequence that both databases and a JavaScript number can represent. */
export const LAST_SEQ = 2 ** 63 - 1024;

/**
 * A checkpoint whose end is no entry of the log. It was written by hand: one after the head would make the log look signed, one before the first
 * entry would replace another.
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
  const problem = `table audit_checkpoints has a checkpoint at entry ${atSeq}, which is no entry of the log: find out where it comes from, and remove it`;
  return { atSeq: Math.max(0, atSeq), problem };
}

export interface Rollback {
  readonly tenant: string;
  readonly before: Anchor;
  readonly problem: string;
}

/** The operator who accepts a rollback, with the reason. */
interface Acceptance {
  readonly by: string;
  readonly reason: string;
}

/** The conflict of a tenant's chain with its anchor; undefined where there is none. */
export async function rollbackOf(
  { store }: Pick<Host, "store">,
  tenant: string,
  anchor: Anchor | undefined,
): Promise<Rollback | undefined> {
  const conflict = anchor && (await anchorConflict(store, tenant, anchor));
  return conflict && { tenant, before: anchor, problem: conflict.problem };
}

/**
 * Records in the tenant's chain that its present state was accepted in place of the signed one, and returns the new anchor. The entry is written
 * first: an anchor that moved without it would leave no trace in the log.
 */
export async function acceptRollback(
  { store, nowMs }: Pick<Host, "store" | "nowMs">,
  { tenant, before, problem }: Rollback,
  { by, reason }: Acceptance,
): Promise<Anchor> {
  const details = { reason, problem, signedSeq: before.seq, signedHash: before.hash };
  const occurredAt = new Date(nowMs()).toISOString();
  const audit = [{ occurredAt, actor: by, action: "audit.rollback.accepted", target: "audit", details }];
  const committed = await store.commit({ tenant, audit });
  if (!committed.ok) throw new Error(`the audit entry was refused: ${committed.refusal.type}`);
  const head = await store.auditHead(tenant);
  if (head === undefined) throw new Error("the audit chain has no head after an entry was added");
  const checkpoint = (await store.readCheckpoints(tenant, 1, head.seq)).at(-1);
  if (checkpoint === undefined) return head;
  const { atSequence, merkleRoot } = checkpoint;
  return { ...head, checkpoint: { atSequence, merkleRoot } };
}
