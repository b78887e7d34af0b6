import type { Unit } from "../port/store.ts";
import { annotationRow, FATE_COLUMNS, fateOf, textRow } from "../rows/annotation-rows.ts";
import { stepsOf } from "../rows/annotation-steps.ts";
import { tallyChanges } from "../rows/feedback-tallies.ts";
import * as columns from "./annotation-statements.ts";
import type { SqliteValue } from "./open-database.ts";
import type { AnnotationCheck, Write } from "./operations.ts";

export interface FlatAnnotations {
  readonly annotations: readonly AnnotationCheck[];
  /** What goes into the history once its place is known, each an annotation and what happened to it. */
  readonly history: readonly (readonly [annotationId: string, change: string])[];
}

const NOTHING: FlatAnnotations = { annotations: [], history: [] };

/** The rows of annotations and of what is counted of them, and what they depend on. */
export function flattenAnnotations(unit: Unit, writes: Write[]): FlatAnnotations {
  const steps = stepsOf(unit);
  if (steps.length === 0) return NOTHING;
  const history: [string, string][] = [];
  for (const { before, after, changes } of steps) {
    const { tenant, annotationId } = after;
    if (before !== undefined) {
      writes.push(["changeAnnotation", [...valuesOf(fateOf(after), FATE_COLUMNS), tenant, annotationId]]);
    } else {
      const row = annotationRow(after);
      writes.push(["insertAnnotation", valuesOf(row, columns.ANNOTATION_COLUMNS)]);
      const text = textRow(row);
      if (text !== undefined) writes.push(["insertAnnotationText", [tenant, annotationId, text.words]]);
    }
    for (const change of changes) history.push([annotationId, change]);
  }
  const { feedback, labels } = tallyChanges(steps);
  for (const row of feedback) writes.push(["addFeedback", valuesOf(row, columns.FEEDBACK_COLUMNS)]);
  for (const row of labels) writes.push(["addLabel", valuesOf(row, columns.LABEL_COLUMNS)]);
  const annotations = steps.map(({ before, after, needsRun }) => ({
    annotationId: after.annotationId,
    ...(needsRun ? { runId: after.runId } : {}),
    ...(before === undefined ? {} : { before: { state: before.state, flag: before.flag?.status ?? null } }),
  }));
  return { annotations, history };
}

function valuesOf<C extends string>(row: Readonly<Record<C, SqliteValue>>, names: readonly C[]): SqliteValue[] {
  return names.map((name) => row[name]);
}
