import { defined } from "../../../protocol/defined.ts";
import type { EventDraft, PayloadOf } from "../../../protocol/events.ts";
import { CHAIN_EVENT } from "../../../protocol/runs/orchestrator.ts";
import type { Child, Run } from "../../../protocol/runs/run.ts";

type Chain = PayloadOf<typeof CHAIN_EVENT>;

export function chainEvent(nodeId: string, payload: Chain, causationId?: string): EventDraft {
  return { type: CHAIN_EVENT, nodeId, payload, ...defined({ causationId }) };
}

/** How a worker ended, for the log of the run that handed it out; nothing of a child that is no worker. */
export function workerEnded({ nodeId, workflowId, chain }: Child, { runId, status, error }: Run): EventDraft[] {
  if (chain === undefined) return [];
  const about = { workerId: workflowId, parentRunId: chain.parentRunId, childRunId: runId };
  if (status === "completed") return [chainEvent(nodeId, { phase: "child.completed", ...about }, chain.eventId)];
  const phase = status === "cancelled" ? "child.cancelled" : "child.failed";
  const why = error ?? { code: "child_cancelled", message: `Run ${runId} of worker ${workflowId} was ${status}.` };
  return [chainEvent(nodeId, { phase, ...about, error: why }, chain.eventId)];
}

/** That variables of this run were set from those of a worker. */
export function harvested(childRunId: string, child: Child, harvestedKeys: readonly string[]): EventDraft[] {
  const { nodeId, workflowId, chain } = child;
  if (chain === undefined) return [];
  const about = { workerId: workflowId, parentRunId: chain.parentRunId, childRunId };
  return [
    chainEvent(nodeId, { phase: "output.harvested", ...about, harvestedKeys: [...harvestedKeys] }, chain.eventId),
  ];
}
