import { type AgentFields, hasAgent } from "../../../protocol/agents/agent-of.ts";
import { instantMs } from "../../../protocol/instant.ts";
import type { Signal } from "../../../protocol/judgments/annotation.ts";
import type { QueueQuery } from "../../../protocol/queues/api.ts";
import { isSampled } from "./sample.ts";

/** What somebody said about a run, as far as a query asks. */
export interface SaidAbout extends AgentFields {
  readonly runId: string;
  readonly workflowId: string;
  readonly aboutNode?: string;
  readonly signal: Signal;
  readonly state: string;
  readonly flag?: { readonly status: string };
  readonly createdAtMs: number;
}

/** Whether an annotation as it is now brings its run into the queue, as far as it can say: not in what state the run is. */
export function annotationMatches(query: QueueQuery, said: SaidAbout): boolean {
  const { workflowId, agentId, nodeId } = query;
  if (said.state !== "live" || said.createdAtMs < fromMs(query)) return false;
  if (workflowId !== undefined && said.workflowId !== workflowId) return false;
  if (agentId !== undefined && !hasAgent(said, agentId)) return false;
  if (nodeId !== undefined && said.aboutNode !== nodeId) return false;
  return saysIt(query, said) && inSample(query, said.runId);
}

function saysIt({ flagged, label, ratingMax }: QueueQuery, { signal, flag }: SaidAbout): boolean {
  if (flagged) return signal.kind === "flag" && flag?.status === "open";
  if (label !== undefined) return signal.kind === "label" && signal.label === label;
  return signal.kind === "rating" && (signal.rating ?? Number.POSITIVE_INFINITY) <= (ratingMax ?? 0);
}

export function inSample({ sample = 1 }: QueueQuery, runId: string): boolean {
  return isSampled(runId, sample);
}

/** When the query begins; 0 is the beginning of time. */
export function fromMs({ from }: QueueQuery): number {
  return from === undefined ? 0 : (instantMs(from) ?? 0);
}
