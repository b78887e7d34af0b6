import type { RunError } from "../events.ts";

/**
 * `interrupted` is an attempt cut short by an immediate pause: it has no terminal event and the next one is fresh.
 * `retrying` waits for its next attempt; `sleeping` waits for a timer inside the same attempt, `suspended` for an
 * answer, `delegated` for the run it dispatched. `resumed` has what it waited for and is called again.
 */
export type NodeStatus =
  | "executing"
  | "sleeping"
  | "retrying"
  | "interrupted"
  | "suspended"
  | "delegated"
  | "resumed"
  | "completed"
  | "failed"
  | "skipped"
  | "cancelled";

export interface NodeState {
  readonly status: NodeStatus;
  readonly attempt: number;
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly dueAtMs?: number;
  /** The interrupt that the node waits for, or waited for last. */
  readonly interruptId?: string;
  readonly childRunId?: string;
  /** A gate that was not passed. Edges lead on from it only where they select that. */
  readonly verdict?: Verdict;
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly error?: RunError;
}

export type Verdict = "rejected" | "refined";

const ACTIVE: ReadonlySet<NodeStatus> = new Set([
  "executing",
  "sleeping",
  "retrying",
  "suspended",
  "delegated",
  "resumed",
]);

export function isActive(node: NodeState): boolean {
  return ACTIVE.has(node.status);
}

export function isSettled(node: NodeState | undefined): node is NodeState {
  if (node === undefined) return false;
  const { status } = node;
  return status === "completed" || status === "failed" || status === "skipped" || status === "cancelled";
}

/** A node that a branch begins with, whatever the conditions before it say: its first attempt is the next one. */
export const ENTERED: NodeState = { status: "interrupted", attempt: -1 };

export function isEntered(node: NodeState | undefined): boolean {
  return node?.status === ENTERED.status && node.attempt === ENTERED.attempt;
}
