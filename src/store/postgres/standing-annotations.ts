import type { AnnotationRecord } from "../port/judgments.ts";
import type { AnnotationStep } from "../rows/annotation-steps.ts";
import type { AnnotationsTable } from "../schema/judgment-tables.ts";
import type { PreparedUnit } from "./prepare-unit.ts";
import { byKey, type Question, type RowsOf, type Standing, transpose } from "./standing.ts";

/** Of annotations: what the units of a batch depend on, as `StandingRows` is of the rest. By `annotationKey`. */
export interface StandingAnnotations {
  readonly annotations: Map<string, Standing<StandingAnnotation>>;
}

export type StandingAnnotation = Pick<AnnotationsTable, "state" | "flag_status"> & {
  /** All of it, once a unit has written the annotation. */
  readonly written?: AnnotationRecord;
};

export function annotationKey(tenant: string, annotationId: string): string {
  return JSON.stringify([tenant, annotationId]);
}

const LOCK_ANNOTATIONS = `select tenant, annotation_id, state, flag_status
  from unnest($1::text[], $2::text[]) as given(tenant, annotation_id) join annotations using (tenant, annotation_id)
  order by tenant, annotation_id for update of annotations`;

export function annotationQuestions(batch: readonly PreparedUnit[]): Question[] {
  const annotations = new Map<string, readonly string[]>();
  for (const { after } of batch.flatMap((unit) => unit.annotations)) {
    annotations.set(annotationKey(after.tenant, after.annotationId), [after.tenant, after.annotationId]);
  }
  return [{ name: "lock annotations", text: LOCK_ANNOTATIONS, values: transpose(2, annotations) }];
}

/** The run of which a step says something new; locked, so that it cannot go in the meantime. */
export function neededRuns(steps: readonly AnnotationStep[]): string[] {
  return steps.flatMap(({ needsRun, after }) => (needsRun ? [after.runId] : []));
}

export function standingAnnotations(rowsOf: RowsOf): StandingAnnotations {
  const rows = rowsOf("lock annotations");
  return { annotations: byKey(rows, (row) => [annotationKey(row.tenant, row.annotation_id), row]) };
}
