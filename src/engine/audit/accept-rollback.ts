import type { Host } from "../host.ts";
import { type Anchor, anchorConflict } from "./anchor.ts";

export interface Rollback {
  readonly tenant: string;
  readonly before: Anchor;
  readonly problem: string;
}

/** What an operator who accepts a rollback says of it. */
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
 * Records in the tenant's chain that the chain as it is now was accepted in place of the one that was signed, and returns the anchor that
 * holds from then on. The entry comes first: an anchor that moved without one would leave no trace in the log.
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
