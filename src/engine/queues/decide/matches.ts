import { type AgentFields, hasAgent } from "../../../protocol/agents/agent-of.ts";
import { instantMs } from "../../../protocol/instant.ts";
import type { Signal } from "../../../protocol/judgments/annotation.ts";
import type { QueueQuery } from "../../../protocol/queues/api.ts";

/** The members of an annotation that a query compares. */
export interface ComparedAnnotation extends AgentFields {
  readonly runId: string;
  readonly workflowId: string;
  readonly aboutNode?: string;
  readonly signal: Signal;
  readonly state: string;
  readonly flag?: { readonly status: string };
  readonly createdAtMs: number;
}

/** Whether an annotation brings its run into the queue, apart from the status of the run. */
export function annotationMatches(query: QueueQuery, annotation: ComparedAnnotation): boolean {
  const { workflowId, agentId, nodeId } = query;
  if (annotation.state !== "live" || annotation.createdAtMs < fromMs(query)) return false;
  if (workflowId !== undefined && annotation.workflowId !== workflowId) return false;
  if (agentId !== undefined && !hasAgent(annotation, agentId)) return false;
  if (nodeId !== undefined && annotation.aboutNode !== nodeId) return false;
  return signalMatches(query, annotation) && inSample(query, annotation.runId);
}

function signalMatches({ flagged, label, ratingMax }: QueueQuery, { signal, flag }: ComparedAnnotation): boolean {
  if (flagged) return signal.kind === "flag" && flag?.status === "open";
  if (label !== undefined) return signal.kind === "label" && signal.label === label;
  return signal.kind === "rating" && (signal.rating ?? Number.POSITIVE_INFINITY) <= (ratingMax ?? 0);
}

export function inSample({ sample = 1 }: QueueQuery, runId: string): boolean {
  return isSampled(runId, sample);
}

/** The beginning of the query; 0 without one. */
export function fromMs({ from }: QueueQuery): number {
  return from === undefined ? 0 : (instantMs(from) ?? 0);
}

/** Whether a run is in a sample of this share. It depends on the run id alone, and a larger sample has all runs of a smaller one. */
export function isSampled(runId: string, share: number): boolean {
  return share >= 1 || hash(runId) / 2 ** 32 < share;
}

/** FNV-1a with the last mixing step of MurmurHash3, without which ids with different ends get close hashes. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
