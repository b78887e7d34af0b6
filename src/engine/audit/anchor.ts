import { entryHash } from "../../formats/audit-entry-hash.ts";
import type { AuditAnomaly } from "../../protocol/audit.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Audit } from "../../store/store.ts";

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
export interface AnchorConflict {
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
