/** The tables of annotations and of what is counted of them; see `tables.ts`. */

/** Judgments. Primary key (tenant, annotation_id): ids that come from elsewhere are unique in their tenant only. */
export interface AnnotationsTable {
  tenant: string;
  annotation_id: string;
  workspace: string | null;
  run_id: string;
  workflow_id: string;
  agent_id: string | null;
  event_id: string | null;
  node_id: string | null;
  about_node: string | null;
  kind: string;
  rating: number | null;
  label: string | null;
  actor: string;
  actor_kind: string;
  confidence: number | null;
  created_at: number;
  state: string;
  supersedes: string | null;
  superseded_by: string | null;
  superseded_at: number | null;
  retracted_by: string | null;
  retracted_at: number | null;
  retraction_reason: string | null;
  /** Of flags only. */
  flag_status: string | null;
  flag_closed_by: string | null;
  flag_closed_at: number | null;
  flag_note: string | null;
  queue_item_id: string | null;
  imported_by: string | null;
  correction: string | null;
  note: string | null;
  tape_row: string | null;
}

/** What happened to annotations, in the order of commits. Primary key (tenant, seq, n); the same happens once. */
export interface AnnotationChangesTable {
  tenant: string;
  /** Of the last audit entry of the commit. */
  seq: number;
  n: number;
  annotation_id: string;
  change: string;
}

/**
 * The words of an annotation that has text. Primary key (tenant, annotation_id). Each database has a
 * column more for its index, which nothing else knows. A backup leaves them out; whoever restores it makes them again.
 */
export interface AnnotationTextsTable {
  tenant: string;
  annotation_id: string;
  words: string;
}

/**
 * How many live annotations of which sort a run has, and each of its nodes. Primary key (tenant, run_id, node_id,
 * actor_kind); node "" is the run with all its nodes, kind "imported" are imported judgments of all kinds of actors. A row whose annotations were all withdrawn stays, with zeros.
 */
export interface RunFeedbackTable {
  tenant: string;
  run_id: string;
  node_id: string;
  actor_kind: string;
  annotations: number;
  r1: number;
  r2: number;
  r3: number;
  r4: number;
  r5: number;
  corrections: number;
  flags: number;
  passes: number;
  fails: number;
}

/** The same of labels. Primary key (tenant, run_id, node_id, actor_kind, label). */
export interface RunLabelsTable {
  tenant: string;
  run_id: string;
  node_id: string;
  actor_kind: string;
  label: string;
  n: number;
}

/** How far somebody who passes changes on has come. Primary key (name, tenant). */
export interface ExportCursorsTable {
  name: string;
  tenant: string;
  seq: number;
  n: number;
}
