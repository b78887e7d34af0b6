import { FATE_COLUMNS } from "../rows/annotation-rows.ts";
import { TALLIED } from "../rows/feedback-tallies.ts";
import type * as T from "../schema/judgment-tables.ts";

/** The order in which values are bound, and columns named. */
export const ANNOTATION_COLUMNS = [
  "tenant",
  "annotation_id",
  "workspace",
  "run_id",
  "workflow_id",
  "agent_id",
  "event_id",
  "node_id",
  "about_node",
  "kind",
  "rating",
  "label",
  "actor",
  "actor_kind",
  "confidence",
  "created_at",
  "supersedes",
  ...FATE_COLUMNS,
  "queue_item_id",
  "imported_by",
  "correction",
  "note",
  "tape_row",
] as const satisfies readonly (keyof T.AnnotationsTable)[];

export const FEEDBACK_COLUMNS = [
  "tenant",
  "run_id",
  "node_id",
  "actor_kind",
  ...TALLIED,
] as const satisfies readonly (keyof T.RunFeedbackTable)[];

export const LABEL_COLUMNS = [
  "tenant",
  "run_id",
  "node_id",
  "actor_kind",
  "label",
  "n",
] as const satisfies readonly (keyof T.RunLabelsTable)[];

/** What units write of annotations. `flatten-annotations.ts` gives the values. */
export const ANNOTATION_WRITES = {
  insertAnnotation: insertInto("annotations", ANNOTATION_COLUMNS),
  changeAnnotation: `update annotations set ${FATE_COLUMNS.map((column) => `${column} = ?`)}
    where tenant = ? and annotation_id = ?`,
  insertAnnotationText: "insert into annotation_texts (tenant, annotation_id, words) values (?, ?, ?)",
  insertAnnotationChange: `insert into annotation_changes (tenant, seq, n, annotation_id, change) values (?, ?, ?, ?, ?)
    on conflict (tenant, annotation_id, change) do update set seq = excluded.seq, n = excluded.n`,
  addFeedback: `${insertInto("run_feedback", FEEDBACK_COLUMNS)}
    on conflict (tenant, run_id, node_id, actor_kind) do update set
    ${TALLIED.map((column) => `${column} = ${column} + excluded.${column}`)}`,
  addLabel: `${insertInto("run_labels", LABEL_COLUMNS)}
    on conflict (tenant, run_id, node_id, actor_kind, label) do update set n = n + excluded.n`,
} as const;

export const ANNOTATION_READS = {
  annotationHead: "select state, flag_status from annotations where tenant = ? and annotation_id = ?",
  runTenant: "select tenant from runs where run_id = ?",
  judgedSince: `select 1 from annotation_changes as change where tenant = ? and seq > ? and exists (
    select 1 from annotations where tenant = change.tenant and annotation_id = change.annotation_id and run_id = ?) limit 1`,
} as const;

function insertInto(table: string, columns: readonly string[]): string {
  return `insert into ${table} (${columns}) values (${columns.map(() => "?")})`;
}
