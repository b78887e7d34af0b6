import type { ActorKind, AnnotationState, SignalKind } from "../../protocol/judgments/annotation.ts";
import type { AnnotationChangeKind } from "../port/judgments.ts";
import { bigint, double, int, type Row, table, text, time } from "./table.ts";

/** Judgments. Ids that come from elsewhere are unique in their tenant only. */
export const annotations = table(
  "annotations",
  {
    tenant: text(),
    annotation_id: text(),
    workspace: text().orNull,
    run_id: text(),
    workflow_id: text(),
    agent_id: text().orNull,
    event_id: text().orNull,
    node_id: text().orNull,
    about_node: text().orNull,
    kind: text<SignalKind>(),
    rating: int().orNull,
    label: text().orNull,
    actor: text(),
    actor_kind: text<ActorKind>(),
    confidence: double().orNull,
    created_at: time(),
    state: text<AnnotationState>(),
    supersedes: text().orNull,
    superseded_by: text().orNull,
    superseded_at: time().orNull,
    retracted_by: text().orNull,
    retracted_at: time().orNull,
    retraction_reason: text().orNull,
    /** Of flags only. */
    flag_status: text<"open" | "closed">().orNull,
    flag_closed_by: text().orNull,
    flag_closed_at: time().orNull,
    flag_note: text().orNull,
    queue_item_id: text().orNull,
    imported_by: text().orNull,
    correction: text().orNull,
    note: text().orNull,
    tape_row: text().orNull,
  },
  {
    key: ["tenant", "annotation_id"],
    changing: [
      "state",
      "superseded_by",
      "superseded_at",
      "retracted_by",
      "retracted_at",
      "retraction_reason",
      "flag_status",
      "flag_closed_by",
      "flag_closed_at",
      "flag_note",
    ],
  },
);
export type AnnotationsTable = Row<typeof annotations>;

/** Changes of annotations in the order of commits, each once. `seq` is of the last audit entry of the commit. */
export const annotationChanges = table(
  "annotation_changes",
  { tenant: text(), seq: bigint(), n: int(), annotation_id: text(), change: text<AnnotationChangeKind>() },
  { key: ["tenant", "seq", "n"] },
);
export type AnnotationChangesTable = Row<typeof annotationChanges>;

/**
 * The words of an annotation that has text. Each database has a column more for its index, which is not described here. A backup leaves
 * them out; a restore makes them again.
 */
export const annotationTexts = table(
  "annotation_texts",
  { tenant: text(), annotation_id: text(), words: text() },
  { key: ["tenant", "annotation_id"] },
);
export type AnnotationTextsTable = Row<typeof annotationTexts>;

/**
 * How many live annotations of which sort a run has, and each of its nodes. Node "" is the run with all its nodes, kind "imported" are
 * imported judgments of all kinds of actors. A row whose annotations were all withdrawn stays, with zeros.
 */
export const runFeedback = table(
  "run_feedback",
  {
    tenant: text(),
    run_id: text(),
    node_id: text(),
    actor_kind: text(),
    annotations: int(),
    r1: int(),
    r2: int(),
    r3: int(),
    r4: int(),
    r5: int(),
    corrections: int(),
    flags: int(),
    passes: int(),
    fails: int(),
  },
  { key: ["tenant", "run_id", "node_id", "actor_kind"] },
);
export type RunFeedbackTable = Row<typeof runFeedback>;

/** The same of labels. */
export const runLabels = table(
  "run_labels",
  { tenant: text(), run_id: text(), node_id: text(), actor_kind: text(), label: text(), n: int() },
  { key: ["tenant", "run_id", "node_id", "actor_kind", "label"] },
);
export type RunLabelsTable = Row<typeof runLabels>;

/** How far an exporter of changes has come. */
export const exportCursors = table(
  "export_cursors",
  { name: text(), tenant: text(), seq: bigint(), n: int() },
  { key: ["name", "tenant"] },
);
