import { defined } from "../../protocol/defined.ts";
import type { Annotation } from "../../protocol/judgments/annotation.ts";
import type { AnnotationView } from "../../protocol/judgments/annotation-api.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";

/** Exactly what the protocol shows of a judgment, whatever became of it since. */
export function annotationDoc(record: AnnotationRecord): Annotation {
  const { annotationId, runId, target, signal, actor, note, createdAtMs } = record;
  return {
    annotationId,
    target: { runId, ...target },
    signal,
    actor: { principalRef: actor },
    ...defined({ note }),
    createdAt: iso(createdAtMs),
  };
}

/** And what Assay knows beside it. */
export function annotationView(record: AnnotationRecord): AnnotationView {
  const { workflowId, agentId, otherAgents, actorKind, confidence, state, supersedes, supersededBy, supersededAtMs } =
    record;
  const { retraction, queueItemId, importedBy, tapeRow } = record;
  return {
    ...annotationDoc(record),
    workflowId,
    ...defined({ agentId }),
    ...(otherAgents === undefined ? {} : { otherAgents: [...otherAgents] }),
    actorKind,
    ...defined({ confidence }),
    state,
    ...defined({ supersedes, supersededBy }),
    ...(supersededAtMs === undefined ? {} : { supersededAt: iso(supersededAtMs) }),
    ...(retraction === undefined
      ? {}
      : { retraction: { by: retraction.by, at: iso(retraction.atMs), reason: retraction.reason } }),
    ...flagView(record),
    ...defined({ queueItemId, importedBy, tapeRow }),
  };
}

function flagView({ flag }: AnnotationRecord): Pick<AnnotationView, "flag"> {
  if (flag === undefined) return {};
  if (flag.status === "open") return { flag: { status: "open" } };
  return { flag: { status: "closed", closedBy: flag.by, closedAt: iso(flag.atMs), note: flag.note } };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
