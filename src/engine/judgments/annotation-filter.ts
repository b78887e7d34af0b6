import { hasAgent } from "../../protocol/agents/agent-of.ts";
import { defined } from "../../protocol/defined.ts";
import { queryInstant } from "../../protocol/instant.ts";
import type { SignalKind } from "../../protocol/judgments/annotation.ts";
import type { AnnotationFilter } from "../../protocol/judgments/annotation-api.ts";
import type { AnnotationQuery, AnnotationRecord } from "../../store/port/judgments.ts";

/** A filter of annotations, without limit and order. */
export type Wanted = Omit<AnnotationQuery, "limit" | "order" | "after" | "words" | "blindFor">;

/** The query of a filter; undefined where the filter contradicts itself. A label, a rating and a flag each mean one kind of signal. */
export function wantedBy({ signal, flagged, from, to, ...filter }: AnnotationFilter): Wanted | undefined {
  const { label, ratingMax, state } = filter;
  const kinds = new Set<SignalKind>();
  if (signal !== undefined) kinds.add(signal);
  if (label !== undefined) kinds.add("label");
  if (ratingMax !== undefined) kinds.add("rating");
  if (flagged !== undefined) kinds.add("flag");
  const fromMs = from === undefined ? undefined : queryInstant("from", from);
  const toMs = to === undefined ? undefined : queryInstant("to", to);
  if (kinds.size > 1 || (flagged !== undefined && (state ?? "live") !== "live")) return undefined;
  const [kind] = kinds;
  const flag = flagged === undefined ? undefined : flagged === "closed" ? ("closed" as const) : ("open" as const);
  return { ...filter, ...defined({ kind, flag, fromMs, toMs }) };
}

/** Whether an annotation matches the filter now. */
export function isWanted(wanted: Wanted, annotation: AnnotationRecord): boolean {
  const { signal, createdAtMs, state, flag } = annotation;
  const { fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY, ratingMax } = wanted;
  return (
    is(wanted.runId, annotation.runId) &&
    is(wanted.workflowId, annotation.workflowId) &&
    (wanted.agentId === undefined || hasAgent(annotation, wanted.agentId)) &&
    is(wanted.nodeId, annotation.aboutNode) &&
    is(wanted.kind, signal.kind) &&
    is(wanted.label, signal.label) &&
    is(wanted.actor, annotation.actor) &&
    is(wanted.actorKind, annotation.actorKind) &&
    is(wanted.state, state) &&
    (wanted.flag === undefined || (wanted.flag === flag?.status && state === "live")) &&
    (ratingMax === undefined || (signal.rating ?? Number.POSITIVE_INFINITY) <= ratingMax) &&
    createdAtMs >= fromMs &&
    createdAtMs < toMs
  );
}

function is(asked: string | undefined, value: string | undefined): boolean {
  return asked === undefined || asked === value;
}
