import type { EventDraft } from "../../../protocol/events.ts";
import type { OpenInvocation } from "../../../protocol/evolve/agent.ts";
import { isReplay } from "../../../protocol/runs/forked-from.ts";
import { activeNodes, type Cancellation, type Run } from "../../../protocol/runs/run.ts";
import { isTerminal } from "../../../protocol/runs/run-status.ts";

/**
 * A run that has ended stays as it is, and so does one already being cancelled. While a node executes, the worker
 * that holds it is asked to let go; otherwise nothing is under way and the run ends here.
 */
export function cancelRun(run: Run, command: Cancellation): EventDraft[] {
  if (isTerminal(run.status)) return [];
  // In a replay nothing is ever under way, whatever the history says that it was copied with.
  if (isReplay(run)) return endCancelled(run, command);
  if (run.status === "cancelling") return [];
  const executing = activeNodes(run).some(([, node]) => node.status === "executing");
  return executing ? requestCancel(run, command) : endCancelled(run, command);
}

/** Leaves the end of the run, and of its children, to a worker. */
export function requestCancel(run: Run, command: Cancellation): EventDraft[] {
  if (isTerminal(run.status)) return [];
  if (isReplay(run)) return endCancelled(run, command);
  if (run.status === "cancelling") return [];
  return [{ type: "assay.cancel.requested", payload: { ...command } }];
}

/** The end of a cancelled run: every active node first, then the run's own last event. */
export function endCancelled(run: Run, { by, ...why }: Cancellation): EventDraft[] {
  return [...cancelActive(run, "run cancelled"), { type: "run.cancelled", payload: { cancelledBy: by, ...why } }];
}

/** What an agent was asked by such a node comes to nothing, and its bracket is closed before its node is. */
export function cancelActive(run: Run, reason: string): EventDraft[] {
  const open = run.agent?.open ?? [];
  return activeNodes(run).flatMap(([nodeId]): EventDraft[] => [
    ...open.filter((asked) => asked.nodeId === nodeId).map(brokenOff),
    { type: "node.cancelled", nodeId, payload: { nodeId, reason } },
  ]);
}

function brokenOff({ invocationId, nodeId, agentId }: OpenInvocation): EventDraft {
  return { type: "agent.invocation.completed", nodeId, payload: { invocationId, agentId, outcome: "failed" } };
}
