import { MAX_ROW_CHANGES, type PushSidecarResponse, type RowChange } from "../../protocol/tapes/api.ts";
import type { JudgedRow } from "./judged-rows.ts";
import type { Draft } from "./push-drafts.ts";
import type { PushPlan } from "./push-plan.ts";

/** What a push has come to. What it wrote before it had to look again is its own doing, and not what it found. */
export class PushAnswer {
  readonly #scrubbed: number;
  readonly #dryRun: boolean;
  #plan: PushPlan | undefined;
  readonly #done = new Map<string, RowChange>();

  constructor(scrubbed: number, dryRun: boolean) {
    this.#scrubbed = scrubbed;
    this.#dryRun = dryRun;
  }

  plan(plan: PushPlan): void {
    this.#plan = plan;
  }

  done(changes: readonly RowChange[]): void {
    for (const change of changes) this.#done.set(change.annotationId ?? "", change);
  }

  response(): PushSidecarResponse {
    const { fates, drafts, pruned, onlyHere } = this.#plan as PushPlan;
    const planned = [...drafts.map(draftChange), ...pruned.map(prunedChange)];
    const written = new Map([...this.#done, ...planned.map((one) => [one.annotationId ?? "", one] as const)]);
    const own = [...written.values()];
    const withdrawn = fates.flatMap((fate) => (fate.what === "withdrawn" ? withdrawnChange(fate) : []));
    const count = (what: RowChange["what"]) => own.filter((one) => one.what === what).length;
    const rows = own.filter(({ line }) => line !== undefined).length;
    const changes = [...own, ...withdrawn].sort((a, b) => (a.line ?? LAST) - (b.line ?? LAST));
    return {
      recorded: count("recorded"),
      superseded: count("superseded"),
      unchanged: fates.length - rows - withdrawn.length,
      withdrawn: withdrawn.length,
      retracted: count("retracted"),
      onlyHere: onlyHere.length,
      scrubbed: this.#scrubbed,
      dryRun: this.#dryRun,
      changes: [...changes, ...onlyHere.map(onlyHereChange)].slice(0, MAX_ROW_CHANGES),
    };
  }
}

const LAST = Number.POSITIVE_INFINITY;

export function draftChange({ row, annotation, earlier }: Draft): RowChange {
  const what = earlier === undefined ? "recorded" : "superseded";
  return { line: row.line, id: row.row.id, what, annotationId: annotation.annotationId };
}

export function prunedChange({ id, record }: JudgedRow): RowChange {
  return { id, what: "retracted", annotationId: record.annotationId };
}

function onlyHereChange({ id, record }: JudgedRow): RowChange {
  return { id, what: "only_here", annotationId: record.annotationId };
}

function withdrawnChange({ row, known }: { row: Draft["row"]; known: JudgedRow }): RowChange {
  return { line: row.line, id: row.row.id, what: "withdrawn", annotationId: known.record.annotationId };
}
