import { defined } from "../../../protocol/defined.ts";
import type { EventDraft, RunError } from "../../../protocol/events.ts";
import { deadlineMs } from "../../../protocol/runs/due-times.ts";
import type { Run } from "../../../protocol/runs/run.ts";
import { cancelActive } from "./cancel-run.ts";

/** The end of a failed run: what was active is cancelled first, the run's own event is the last of the log. */
export function failRun(run: Run, error: RunError, failedNodeId?: string): EventDraft[] {
  return [...cancelActive(run, "run failed"), { type: "run.failed", payload: defined({ error, failedNodeId }) }];
}

/** Nothing while there is time; else the breach and the end. `observed` is recorded and never computed again. */
export function checkDeadline(run: Run, nowMs: number): EventDraft[] {
  const deadline = deadlineMs(run);
  const limit = run.limits.runDurationMs;
  if (deadline === undefined || limit === undefined || nowMs < deadline) return [];
  const observed = Math.max(nowMs - deadline + limit, limit + 1);
  const message = `The run lasted longer than ${limit} ms.`;
  return [
    { type: "cap.breached", payload: { kind: "run-duration", limit, observed } },
    ...failRun(run, { code: "run_timeout", message }),
  ];
}
