import type { JudgmentEntry } from "../../formats/judgments/judgment-lines.ts";
import { defined } from "../../protocol/defined.ts";
import type { ImportResponse } from "../../protocol/judgments/judgment-file.ts";
import type { AnnotationRecord, AnnotationWrite } from "../../store/port/judgments.ts";
import { isMadeHere, mayReplace } from "./may-replace.ts";
import { merged } from "./merge-judgment.ts";

/** A line as it would stand here, on a run that is here or beside all runs; or why it cannot. */
export type Arriving =
  | { readonly line: number; readonly record: AnnotationRecord; readonly onRun?: true }
  | Extract<JudgmentEntry, { problem: string }>;

export interface Arrivals {
  readonly answer: ImportResponse;
  readonly writes: readonly Extract<AnnotationWrite, { type: "import" }>[];
}

/** What comes of lines, one after the other, given what is stored of the judgments they speak of. */
export function arrivalsOf(
  arriving: readonly Arriving[],
  stored: readonly AnnotationRecord[],
  scrub: (text: string) => string,
): Arrivals {
  const standing = new Map(stored.map((record) => [record.annotationId, record]));
  const before = new Map(standing);
  const counts = { imported: 0, updated: 0, unchanged: 0 };
  const refused: { line: number; problem: string }[] = [];
  for (const one of arriving) {
    const taken = "problem" in one ? one.problem : take(one.record);
    if (typeof taken !== "string") counts[taken.as] += 1;
    else refused.push({ line: one.line, problem: scrub(taken) });
  }
  const onRun = new Set(arriving.flatMap((one) => ("onRun" in one ? [one.record.annotationId] : [])));
  return { answer: { ...counts, refused }, writes: writesOf(before, standing, onRun) };

  function take(record: AnnotationRecord): { readonly as: keyof typeof counts } | string {
    const { annotationId, supersedes } = record;
    const replaced = supersedes === undefined ? undefined : standing.get(supersedes);
    if (replaced !== undefined && !fits(record, replaced)) {
      return isSameSubject(record, replaced) && isMadeHere(replaced)
        ? "it supersedes a judgment that was made here, and an import changes none of those"
        : "it supersedes a judgment of another actor or run";
    }
    const here = standing.get(annotationId);
    const now = here === undefined ? record : merged(here, record, scrub);
    if (now === undefined) return "a judgment with this id is here that says something else";
    if (here !== undefined && now !== here && isMadeHere(here)) {
      return "this judgment was made here, and an import neither replaces, withdraws nor closes it";
    }
    standing.set(annotationId, now);
    // An export that was filtered may hold the judgment that replaces another, and not the other as it is now.
    if (replaced?.state === "live") standing.set(replaced.annotationId, replacedBy(replaced, record));
    return { as: here === undefined ? "imported" : now === here ? "unchanged" : "updated" };
  }
}

function fits(record: AnnotationRecord, replaced: AnnotationRecord): boolean {
  if (!isSameSubject(record, replaced)) return false;
  return replaced.supersededBy === record.annotationId || mayReplace(record, replaced);
}

function isSameSubject(a: AnnotationRecord, b: AnnotationRecord): boolean {
  return a.actor === b.actor && a.runId === b.runId && a.workspace === b.workspace;
}

function replacedBy(replaced: AnnotationRecord, by: AnnotationRecord): AnnotationRecord {
  return { ...replaced, state: "superseded", supersededBy: by.annotationId, supersededAtMs: by.createdAtMs };
}

function writesOf(
  before: ReadonlyMap<string, AnnotationRecord>,
  after: ReadonlyMap<string, AnnotationRecord>,
  onRun: ReadonlySet<string>,
): Arrivals["writes"] {
  const changed = [...after.values()].filter((record) => before.get(record.annotationId) !== record);
  return changed.map((annotation) => {
    const earlier = before.get(annotation.annotationId);
    return {
      type: "import",
      annotation,
      ...defined({ earlier }),
      ...(onRun.has(annotation.annotationId) ? { onRun: true } : {}),
    };
  });
}
