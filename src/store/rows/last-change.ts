import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";

/**
 * When a run last changed, which is when it ended once it has. A fork at the end of its source has nothing but the events of the source,
 * with their times: it ended when it was made, and queues would never find it under an earlier time.
 */
export function lastChangeMs({ status, updatedAt, forkedFrom }: Run): number {
  const changedMs = Date.parse(updatedAt);
  return isTerminal(status) && forkedFrom !== undefined ? Math.max(changedMs, Date.parse(forkedFrom.at)) : changedMs;
}
