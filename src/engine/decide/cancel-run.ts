import type { EventDraft } from "../../protocol/events.ts";
import { activeNodes, type Run } from "../../protocol/run.ts";
import { isTerminal } from "../../protocol/run-status.ts";

export interface CancelRun {
  readonly by: string;
  readonly reason?: string;
}

/**
 * A run that has ended stays as it is, and so does one already being cancelled. While a node executes, the worker
 * that holds it is asked to let go; otherwise nothing is under way and the run ends here.
 */
export function cancelRun(run: Run, command: CancelRun): EventDraft[] {
  if (isTerminal(run.status) || run.status === "cancelling") return [];
  const { by, reason } = command;
  const executing = activeNodes(run).some(([, node]) => node.status === "executing");
  if (executing) {
    return [{ type: "assay.cancel.requested", payload: { by, ...(reason === undefined ? {} : { reason }) } }];
  }
  return endCancelled(run, command);
}

/** The end of a cancelled run: every active node first, then the run's own last event. */
export function endCancelled(run: Run, { by, reason }: CancelRun): EventDraft[] {
  return [
    ...cancelActive(run, "run cancelled"),
    { type: "run.cancelled", payload: { cancelledBy: by, ...(reason === undefined ? {} : { reason }) } },
  ];
}

export function cancelActive(run: Run, reason: string): EventDraft[] {
  return activeNodes(run).map(([nodeId]) => ({ type: "node.cancelled", nodeId, payload: { nodeId, reason } }));
}
