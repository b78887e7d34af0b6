import type { AnnotationRecord } from "../port/judgments.ts";
import type { RunFeedbackTable, RunLabelsTable } from "../schema/judgments.ts";
import type { AnnotationStep } from "../units/annotation-steps.ts";

/** Rows of `run_feedback` and `run_labels`: what they hold, or by how much they change. */
export interface Tallies {
  readonly feedback: readonly RunFeedbackTable[];
  readonly labels: readonly RunLabelsTable[];
}

/** The tallies of these annotations, of any runs: live ones only, in the order of keys. */
export function tallyRows(annotations: readonly AnnotationRecord[]): Tallies {
  const sum = new TallySum();
  for (const annotation of annotations) sum.add(annotation, 1);
  return sum.rows();
}

/** By how much steps change what is counted. A row that would stay as it is, is not there. */
export function tallyChanges(steps: readonly AnnotationStep[]): Tallies {
  const sum = new TallySum();
  for (const { before, after } of steps) {
    if (before !== undefined) sum.add(before, -1);
    sum.add(after, 1);
  }
  return sum.rows();
}

export const TALLIED = [
  "annotations",
  "r1",
  "r2",
  "r3",
  "r4",
  "r5",
  "corrections",
  "flags",
  "passes",
  "fails",
] as const;
type Tallied = (typeof TALLIED)[number];

/** Written out: every annotation comes this way, and an object put together by spreading takes ten times as long. */
function nothingAt({ tenant, run_id, node_id, actor_kind }: Place): RunFeedbackTable {
  return {
    tenant,
    run_id,
    node_id,
    actor_kind,
    annotations: 0,
    r1: 0,
    r2: 0,
    r3: 0,
    r4: 0,
    r5: 0,
    corrections: 0,
    flags: 0,
    passes: 0,
    fails: 0,
  };
}

class TallySum {
  readonly #feedback = new Map<string, RunFeedbackTable>();
  readonly #labels = new Map<string, RunLabelsTable>();

  add(annotation: AnnotationRecord, times: 1 | -1): void {
    if (annotation.state !== "live") return;
    const { aboutNode } = annotation;
    this.#addTo(placeOf(annotation, WHOLE_RUN), annotation, times);
    if (aboutNode !== undefined) this.#addTo(placeOf(annotation, aboutNode), annotation, times);
  }

  #addTo(place: Place, annotation: AnnotationRecord, times: 1 | -1): void {
    const { signal } = annotation;
    const key = JSON.stringify(place);
    const row = this.#feedback.get(key) ?? nothingAt(place);
    this.#feedback.set(key, row);
    row.annotations += times;
    const column = columnOf(annotation);
    if (column !== undefined) row[column] += times;
    if (signal.kind !== "label" || signal.label === undefined) return;
    const { label } = signal;
    const labelKey = JSON.stringify([place, label]);
    this.#labels.set(labelKey, { ...place, label, n: (this.#labels.get(labelKey)?.n ?? 0) + times });
  }

  rows(): Tallies {
    const feedback = [...this.#feedback.values()].filter((row) => TALLIED.some((column) => row[column] !== 0));
    const labels = [...this.#labels.values()].filter(({ n }) => n !== 0);
    return {
      feedback: feedback.sort(byPlace),
      labels: labels.sort((a, b) => byPlace(a, b) || order(a.label, b.label)),
    };
  }
}

/** All judgments of a run and of its nodes, so that a summary reads one row per run and kind of actor. */
export const WHOLE_RUN = "";

/**
 * The `actor_kind` of tallies of imported judgments, whatever kind of actor they name: the author of an imported judgment is a claim of
 * the importer, so its tallies are kept apart from all that was made here.
 */
export const IMPORTED = "imported";

type Place = Pick<RunFeedbackTable, "tenant" | "run_id" | "node_id" | "actor_kind">;

function placeOf({ tenant, runId, actorKind, importedBy }: AnnotationRecord, nodeId: string): Place {
  return { tenant, run_id: runId, node_id: nodeId, actor_kind: importedBy === undefined ? actorKind : IMPORTED };
}

/** Counts of a judgment besides its own; fields that its kind does not use are ignored. */
function columnOf({ signal }: AnnotationRecord): Tallied | undefined {
  switch (signal.kind) {
    case "rating":
      return ([undefined, "r1", "r2", "r3", "r4", "r5"] as const)[signal.rating ?? 0];
    case "correction":
      return "corrections";
    case "flag":
      return "flags";
    case "label":
      return signal.label === "pass" ? "passes" : signal.label === "fail" ? "fails" : undefined;
  }
}

function byPlace(a: Place, b: Place): number {
  return (
    order(a.tenant, b.tenant) ||
    order(a.run_id, b.run_id) ||
    order(a.node_id, b.node_id) ||
    order(a.actor_kind, b.actor_kind)
  );
}

/** In byte order where names are ASCII, which is the order of both databases. */
function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
