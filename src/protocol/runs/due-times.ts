import { isReplay } from "./forked-from.ts";
import type { NodeState } from "./node-state.ts";
import { activeNodes, type Run } from "./run.ts";
import { isTerminal } from "./run-status.ts";

/** A fork is given its time anew, and a replay takes none. */
export function deadlineMs(run: Run): number | undefined {
  const { limits, startedAt, forkedFrom } = run;
  if (limits.runDurationMs === undefined || isReplay(run)) return undefined;
  return Date.parse(forkedFrom?.at ?? startedAt) + limits.runDurationMs;
}

/**
 * When a worker must claim the run next, or undefined when nothing is due. The value is stored
 * in the run row, which is the queue; it depends on the log alone so that the row can be rebuilt.
 */
export function wakeAtMs(run: Run): number | undefined {
  if (isTerminal(run.status)) return undefined;
  if (isReplay(run)) return Date.parse(run.updatedAt);
  const deadline = deadlineMs(run);
  if (run.status === "paused") return deadline;
  const active = activeNodes(run).map(([, node]) => node);
  if (active.length === 0 || run.status === "cancelling") return Date.parse(run.updatedAt);
  if (active.some(({ status }) => status === "executing" || status === "resumed")) return Date.parse(run.updatedAt);
  const dueAtMs = Math.min(...active.map(dueOf), deadline ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(dueAtMs) ? dueAtMs : undefined;
}

/** A wait for an external answer has no due time. */
function dueOf({ status, dueAtMs }: NodeState): number {
  return dueAtMs ?? (status === "suspended" || status === "delegated" ? Number.POSITIVE_INFINITY : 0);
}
