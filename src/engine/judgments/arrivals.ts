import { canonicalJson } from "../../formats/json/canonical-json.ts";
import type { JudgmentEntry } from "../../formats/judgments/judgment-lines.ts";
import { scrubLine } from "../../formats/tapes/scrub.ts";
import { defined } from "../../protocol/defined.ts";
import type { ImportResponse } from "../../protocol/judgments/judgment-file.ts";
import type { AnnotationRecord, AnnotationWrite } from "../../store/port/judgments.ts";
import { scrubSignal } from "./decide/annotate.ts";
import { isMadeHere, mayReplace } from "./may-replace.ts";

/** An imported line as a record, of an existing run or of none; or its problem. */
export type Arriving =
  | { readonly line: number; readonly record: AnnotationRecord; readonly onRun?: true }
  | Extract<JudgmentEntry, { problem: string }>;

export interface Arrivals {
  readonly answer: ImportResponse;
  readonly writes: readonly Extract<AnnotationWrite, { type: "import" }>[];
}

/** The results of imported lines, one after the other, given the stored judgments of the same ids. */
export function arrivalsOf(
  arriving: readonly Arriving[],
  stored: readonly AnnotationRecord[],
  scrub: (text: string) => string,
): Arrivals {
  const current = new Map(stored.map((record) => [record.annotationId, record]));
  const before = new Map(current);
  const counts = { imported: 0, updated: 0, unchanged: 0 };
  const refused: { line: number; problem: string }[] = [];
  for (const one of arriving) {
    const taken = "problem" in one ? one.problem : take(one.record);
    if (typeof taken !== "string") counts[taken.as] += 1;
    else refused.push({ line: one.line, problem: scrub(taken) });
  }
  const onRun = new Set(arriving.flatMap((one) => ("onRun" in one ? [one.record.annotationId] : [])));
  return { answer: { ...counts, refused }, writes: writesOf(before, current, onRun) };

  function take(record: AnnotationRecord): { readonly as: keyof typeof counts } | string {
    const { annotationId, supersedes } = record;
    const replaced = supersedes === undefined ? undefined : current.get(supersedes);
    if (replaced !== undefined && !fits(record, replaced)) {
      return isSameSubject(record, replaced) && isMadeHere(replaced)
        ? "it supersedes a judgment that was made here, and an import changes none of those"
        : "it supersedes a judgment of another actor or run";
    }
    const here = current.get(annotationId);
    const now = here === undefined ? record : merged(here, record, scrub);
    if (now === undefined) return "a judgment with this id exists with other content";
    if (here !== undefined && now !== here && isMadeHere(here)) {
      return "this judgment was made here, and an import neither replaces, withdraws nor closes it";
    }
    current.set(annotationId, now);
    // A filtered export may have a judgment without the one that it replaces.
    if (replaced?.state === "live") current.set(replaced.annotationId, replacedBy(replaced, record));
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
    const { annotationId } = annotation;
    const optional = {
      earlier: before.get(annotationId),
      onRun: onRun.has(annotationId) ? (true as const) : undefined,
    };
    return { type: "import", annotation, ...defined(optional) };
  });
}

type Scrub = (text: string) => string;

/** A record with all its texts scrubbed by the present rules. */
export function cleanRecord(record: AnnotationRecord, scrub: Scrub): AnnotationRecord {
  const { signal, note, retraction, flag, tapeRow } = record;
  const clean = defined({
    note: note === undefined ? undefined : scrub(note),
    tapeRow: tapeRow === undefined ? undefined : scrubLine(tapeRow, scrub),
    retraction: retraction && { ...retraction, reason: scrub(retraction.reason) },
    flag: flag?.status === "closed" ? { ...flag, note: scrub(flag.note) } : undefined,
  });
  return { ...record, signal: scrubSignal(signal, scrub), ...clean };
}

/**
 * The stored judgment with the changes of the imported one; the same object where there are none. Undefined where the two are not one judgment, or
 * ended differently. Changes are never undone: a retracted judgment stays retracted.
 */
function merged(here: AnnotationRecord, incoming: AnnotationRecord, scrub: Scrub): AnnotationRecord | undefined {
  // A judgment that was stored by older rules may have texts that the present rules scrub.
  const clean = contentOf(here) === contentOf(incoming) ? here : cleanRecord(here, scrub);
  if (contentOf(clean) !== contentOf(incoming)) return undefined;
  const ended = endingOf(clean, incoming);
  const flag = flagOf(clean, incoming);
  if (ended === undefined || flag === undefined) return undefined;
  return ended === clean && flag === clean ? here : { ...here, ...endOf(ended), ...defined({ flag: flag.flag }) };
}

/** The unchanging content of a judgment, without its importer and its line of a file. */
function contentOf(record: AnnotationRecord): string {
  const { importedBy: _, tapeRow, state, supersededBy, supersededAtMs, retraction, flag, ...rest } = record;
  return canonicalJson(rest);
}

/** The record with the end of the judgment; undefined where the two ended differently. */
function endingOf(here: AnnotationRecord, incoming: AnnotationRecord): AnnotationRecord | undefined {
  if (incoming.state === "live") return here;
  if (here.state === "live") return incoming;
  return endingText(here) === endingText(incoming) ? here : undefined;
}

/** The end of a judgment without its time: a host that only knew the replacing judgment used the time of that one. */
function endingText({ state, supersededBy, retraction }: AnnotationRecord): string {
  return canonicalJson([state, supersededBy ?? null, retraction ?? null]);
}

function flagOf(here: AnnotationRecord, incoming: AnnotationRecord): AnnotationRecord | undefined {
  if (incoming.flag?.status !== "closed") return here;
  if (here.flag?.status !== "closed") return incoming;
  return canonicalJson(here.flag) === canonicalJson(incoming.flag) ? here : undefined;
}

function endOf({ state, supersededBy, supersededAtMs, retraction }: AnnotationRecord) {
  return defined({ state, supersededBy, supersededAtMs, retraction });
}
