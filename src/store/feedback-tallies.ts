import type { AnnotationStep } from "./annotation-steps.ts";
import type { AnnotationRecord } from "./judgments.ts";
import type { RunFeedbackTable, RunLabelsTable } from "./sql/judgment-tables.ts";

/** Rows of `run_feedback` and `run_labels`: what they hold, or by how much they change. */
export interface Tallies {
  readonly feedback: readonly RunFeedbackTable[];
  readonly labels: readonly RunLabelsTable[];
}

/** What is counted of these annotations, whichever run they are about: of live ones only. In the order of keys. */
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

const NOTHING = Object.fromEntries(TALLIED.map((column) => [column, 0])) as Record<Tallied, number>;

class TallySum {
  readonly #feedback = new Map<string, RunFeedbackTable>();
  readonly #labels = new Map<string, RunLabelsTable>();

  add(annotation: AnnotationRecord, times: 1 | -1): void {
    if (annotation.state !== "live") return;
    const { signal } = annotation;
    const place = placeOf(annotation);
    const row = entryOf(this.#feedback, Object.values(place), () => ({ ...place, ...NOTHING }));
    row.annotations += times;
    const column = columnOf(annotation);
    if (column !== undefined) row[column] += times;
    if (signal.kind !== "label" || signal.label === undefined) return;
    const { label } = signal;
    entryOf(this.#labels, [...Object.values(place), label], () => ({ ...place, label, n: 0 })).n += times;
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

type Place = Pick<RunFeedbackTable, "tenant" | "run_id" | "node_id" | "actor_kind">;

function placeOf({ tenant, runId, aboutNode = "", actorKind }: AnnotationRecord): Place {
  return { tenant, run_id: runId, node_id: aboutNode, actor_kind: actorKind };
}

/** What is counted of it beside itself; fields that the kind is not about mean nothing. */
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

function entryOf<R>(rows: Map<string, R>, key: readonly string[], make: () => R): R {
  const name = JSON.stringify(key);
  const found = rows.get(name) ?? make();
  rows.set(name, found);
  return found;
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
