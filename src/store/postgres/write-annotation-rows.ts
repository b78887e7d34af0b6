import type { AnnotationRecord } from "../port/judgments.ts";
import { annotationRow, textRow } from "../rows/annotation-rows.ts";
import { TALLIED, tallyChanges } from "../rows/feedback-tallies.ts";
import type { Accepted } from "./apply-unit.ts";
import { sorted } from "./row-order.ts";
import type { StandingAnnotations } from "./standing-annotations.ts";
import { insertInto, type Statement, update } from "./statements.ts";

/** Annotations, then what follows from them: words, history and what is counted. */
export function writeAnnotationRows({ annotations }: StandingAnnotations, accepted: Accepted): Statement[] {
  const [stored, fresh]: [AnnotationRecord[], AnnotationRecord[]] = [[], []];
  for (const standing of annotations.values()) {
    if (standing.row.written) (standing.stored ? stored : fresh).push(standing.row.written);
  }
  if (stored.length === 0 && fresh.length === 0) return [];
  const rows = sorted(fresh.map(annotationRow), (row) => [row.tenant, row.annotation_id]);
  const { feedback, labels } = tallyChanges(accepted.units.flatMap((unit) => unit.annotations));
  return [
    ...updateAnnotations(stored.map(annotationRow)),
    ...insertAnnotations(rows),
    ...insertTexts(rows.flatMap((row) => textRow(row) ?? [])),
    ...insertChanges(accepted.history),
    ...addFeedback(feedback),
    ...addLabels(labels),
  ];
}

const FATE = {
  tenant: "text",
  annotation_id: "text",
  state: "text",
  superseded_by: "text",
  superseded_at: "bigint",
  retracted_by: "text",
  retracted_at: "bigint",
  retraction_reason: "text",
  flag_status: "text",
  flag_closed_by: "text",
  flag_closed_at: "bigint",
  flag_note: "text",
} as const;
const updateAnnotations = update("annotations", FATE, ["tenant", "annotation_id"]);
const insertAnnotations = insertInto("annotations", {
  ...FATE,
  workspace: "text",
  run_id: "text",
  workflow_id: "text",
  agent_id: "text",
  event_id: "text",
  node_id: "text",
  about_node: "text",
  kind: "text",
  rating: "integer",
  label: "text",
  actor: "text",
  actor_kind: "text",
  confidence: "double precision",
  created_at: "bigint",
  supersedes: "text",
  queue_item_id: "text",
  imported_by: "text",
  correction: "text",
  note: "text",
  tape_row: "text",
} as const);

const insertTexts = insertInto("annotation_texts", { tenant: "text", annotation_id: "text", words: "text" } as const);

/** What happens again, as only elsewhere something can, is told again: in its new place. */
const insertChanges = insertInto(
  "annotation_changes",
  { tenant: "text", seq: "bigint", n: "integer", annotation_id: "text", change: "text" } as const,
  "on conflict (tenant, annotation_id, change) do update set seq = excluded.seq, n = excluded.n",
);

const PLACE = { tenant: "text", run_id: "text", node_id: "text", actor_kind: "text" } as const;

const addFeedback = insertInto(
  "run_feedback",
  {
    ...PLACE,
    annotations: "integer",
    r1: "integer",
    r2: "integer",
    r3: "integer",
    r4: "integer",
    r5: "integer",
    corrections: "integer",
    flags: "integer",
    passes: "integer",
    fails: "integer",
  } as const,
  `on conflict (tenant, run_id, node_id, actor_kind) do update set
    ${TALLIED.map((column) => `${column} = run_feedback.${column} + excluded.${column}`)}`,
);

const addLabels = insertInto(
  "run_labels",
  { ...PLACE, label: "text", n: "integer" } as const,
  "on conflict (tenant, run_id, node_id, actor_kind, label) do update set n = run_labels.n + excluded.n",
);
