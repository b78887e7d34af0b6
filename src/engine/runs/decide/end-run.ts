import { defined } from "../../../protocol/defined.ts";
import type { EventDraft, RunError } from "../../../protocol/events.ts";
import type { OpenInvocation } from "../../../protocol/evolve/agent.ts";
import { deadlineMs } from "../../../protocol/runs/due-times.ts";
import { isReplay } from "../../../protocol/runs/forked-from.ts";
import { activeNodes, type Cancellation, type Run } from "../../../protocol/runs/run.ts";
import { isTerminal } from "../../../protocol/runs/run-status.ts";

/** The end of a failed run: active nodes are cancelled first; the run's own event is the last of the log. */
export function failRun(run: Run, error: RunError, failedNodeId?: string): EventDraft[] {
  return [...cancelActive(run, "run failed"), { type: "run.failed", payload: defined({ error, failedNodeId }) }];
}

/** The end of a run that exceeds its duration; nothing before that. `observed` is recorded and never computed again. */
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

/**
 * Cancels a run that has not ended and is not being cancelled. While a node executes, its worker is asked to stop; otherwise the run ends
 * here.
 */
export function cancelRun(run: Run, command: Cancellation): EventDraft[] {
  if (isTerminal(run.status)) return [];
  // In a replay no node executes, also where the copied history says so.
  if (isReplay(run)) return endCancelled(run, command);
  if (run.status === "cancelling") return [];
  const executing = activeNodes(run).some(([, node]) => node.status === "executing");
  return executing ? requestCancel(run, command) : endCancelled(run, command);
}

/** Leaves the end of the run and of its children to a worker. */
export function requestCancel(run: Run, command: Cancellation): EventDraft[] {
  if (isTerminal(run.status)) return [];
  if (isReplay(run)) return endCancelled(run, command);
  if (run.status === "cancelling") return [];
  return [{ type: "assay.cancel.requested", payload: { ...command } }];
}

/** The end of a cancelled run: its active nodes first, then the run's own last event. */
export function endCancelled(run: Run, { by, ...why }: Cancellation): EventDraft[] {
  return [...cancelActive(run, "run cancelled"), { type: "run.cancelled", payload: { cancelledBy: by, ...why } }];
}

/** Cancels the active nodes. Open invocations of a node are closed before the node. */
function cancelActive(run: Run, reason: string): EventDraft[] {
  const open = run.agent?.open ?? [];
  return activeNodes(run).flatMap(([nodeId]): EventDraft[] => [
    ...open.filter((asked) => asked.nodeId === nodeId).map(brokenOff),
    { type: "node.cancelled", nodeId, payload: { nodeId, reason } },
  ]);
}

function brokenOff({ invocationId, nodeId, agentId }: OpenInvocation): EventDraft {
  return { type: "agent.invocation.completed", nodeId, payload: { invocationId, agentId, outcome: "failed" } };
}
