import type { AnnotationState } from "../../protocol/judgments/annotation.ts";
import type { Refusal } from "../port/store.ts";
import type { AnnotationChangesTable } from "../schema/judgment-tables.ts";
import type { PreparedUnit } from "./prepare-unit.ts";
import { change } from "./standing.ts";
import { annotationKey } from "./standing-annotations.ts";
import type { StandingRows } from "./standing-rows.ts";

/** Whether the runs are there, and the annotations as the unit takes them to be. */
export function checkAnnotations(
  { unit: { tenant }, annotations }: PreparedUnit,
  standing: StandingRows,
): Refusal | undefined {
  for (const { before, after, needsRun } of annotations) {
    const { annotationId, runId } = after;
    if (needsRun && standing.runs.get(runId)?.row.tenant !== tenant) return { type: "version", runId, version: 0 };
    const head = standing.annotations.get(annotationKey(tenant, annotationId))?.row;
    const fits =
      before === undefined
        ? head === undefined
        : head?.state === before.state && head.flag_status === (before.flag?.status ?? null);
    if (fits) continue;
    return {
      type: "annotation",
      annotationId,
      ...(head === undefined ? {} : { state: head.state as AnnotationState }),
    };
  }
  return undefined;
}

/** Also what goes into the history, whose place is that of the last audit entry of the unit. */
export function applyAnnotations(
  { unit: { tenant }, annotations }: PreparedUnit,
  standing: StandingRows,
): AnnotationChangesTable[] {
  const seq = standing.heads.get(tenant)?.row.seq ?? 0;
  const history: AnnotationChangesTable[] = [];
  for (const { after, changes } of annotations) {
    const { annotationId: annotation_id, state, flag } = after;
    const row = { state, flag_status: flag?.status ?? null, written: after };
    change(standing.annotations, annotationKey(tenant, annotation_id), row);
    for (const kind of changes) history.push({ tenant, seq, n: history.length, annotation_id, change: kind });
  }
  return history;
}
