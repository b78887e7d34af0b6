import { changesBetween, type JsonChange } from "../../engine/runs/decide/json-changes.ts";
import { holdsText, unfenced } from "../../formats/text/find-text.ts";
import { unifiedDiff } from "../../formats/text/unified-diff.ts";
import type { GoldenMatch } from "../../protocol/evals/eval-suite.ts";
import { outputText, readings } from "./output-text.ts";

/** How an output differs from the expected one, for people. Bounded, however long the two are. */
export type Difference =
  | { readonly kind: "none"; readonly summary: string }
  | { readonly kind: "json"; readonly summary: string; readonly changes: readonly JsonChange[] }
  | { readonly kind: "lines"; readonly summary: string; readonly diff: string }
  | ({ readonly kind: "words"; readonly summary: string } & WordChange);

/** Longer texts are compared by their beginnings. */
const COMPARED_CHARACTERS = 100_000;
const SHOWN_CHARACTERS = 20_000;

/** The difference of an output that does not match. */
export function differenceOf({ strategy, value }: GoldenMatch, output: unknown): Difference {
  if (strategy === "json-match") return jsonDifference(value, output);
  const [expected, actual] = [outputText(value), outputText(output)];
  if (strategy === "contains") return containsDifference(expected, actual);
  return textDifference(
    expected,
    actual,
    nearMiss(expected, actual, (a, b) => a === b),
  );
}

function jsonDifference(expected: unknown, output: unknown): Difference {
  const [reading] = readings(output);
  if (typeof reading === "string" && typeof expected !== "string") {
    const why = unfenced(cut(reading, COMPARED_CHARACTERS)) === undefined ? "" : ", but JSON inside a code fence";
    const summary = `A JSON value was expected; the output is a text that is not JSON${why}.`;
    const [before, after] = [cut(outputText(expected), SHOWN_CHARACTERS), cut(reading, SHOWN_CHARACTERS)];
    return { kind: "words", summary, ...wordChange(before, after, "none") };
  }
  if (typeof reading === "string" && typeof expected === "string") return textDifference(expected, reading, undefined);
  const changes = changesBetween(expected, reading).map(shortened);
  const places = changes.length === 1 ? "1 place differs" : `${changes.length} places differ`;
  return { kind: "json", summary: `${places}.`, changes };
}

/** A value that is too long to be read in a list is shown by its beginning, two texts from where they part. */
function shortened({ path, change, ...values }: JsonChange): JsonChange {
  const short = (value: unknown) => {
    const text = outputText(value);
    return text.length <= VALUE_CHARACTERS ? value : `${cut(text, VALUE_CHARACTERS)}…`;
  };
  const shown = Object.entries(fromWhereTheyPart(values)).map(([name, value]) => [name, short(value)]);
  return { path: cut(path, VALUE_CHARACTERS), change, ...Object.fromEntries(shown) };
}

const VALUE_CHARACTERS = 200;

function fromWhereTheyPart(values: Pick<JsonChange, "before" | "after">): Pick<JsonChange, "before" | "after"> {
  const { before, after } = values;
  if (!isLongText(before) || !isLongText(after)) return values;
  const parts = wordChange(cut(before, COMPARED_CHARACTERS), cut(after, COMPARED_CHARACTERS));
  return { before: parts.before + parts.expected, after: parts.before + parts.output };
}

function isLongText(value: unknown): value is string {
  return typeof value === "string" && value.length > VALUE_CHARACTERS;
}

function containsDifference(expected: string, actual: string): Difference {
  const near = nearMiss(expected, actual, (a, b) => holdsText(b, a));
  const summary = `The output does not contain the expected text${near === undefined ? "" : `; ${near}`}.`;
  return {
    kind: "words",
    summary,
    ...wordChange(cut(expected, SHOWN_CHARACTERS), cut(actual, SHOWN_CHARACTERS), "none"),
  };
}

function textDifference(expected: string, actual: string, near: string | undefined): Difference {
  const summary = near === undefined ? "The output is another text." : `The output is another text; ${near}.`;
  const [before, after] = [cut(expected, COMPARED_CHARACTERS), cut(actual, COMPARED_CHARACTERS)];
  if (!before.includes("\n") && !after.includes("\n")) return { kind: "words", summary, ...wordChange(before, after) };
  const { text } = unifiedDiff(before, after, { from: "expected", to: "output" });
  if (text === "")
    return { kind: "none", summary: `${summary} It begins the same for ${COMPARED_CHARACTERS} characters.` };
  return { kind: "lines", summary, diff: text.length <= SHOWN_CHARACTERS ? text : `${cut(text, SHOWN_CHARACTERS)}…\n` };
}

/** The reason of a small mismatch, so that a reader need not search for a single space. */
function nearMiss(
  expected: string,
  actual: string,
  matches: (expected: string, actual: string) => boolean,
): string | undefined {
  const trimmed = (text: string) => text.trim();
  const spaced = (text: string) => text.trim().replace(/\s+/g, " ");
  const small = (text: string) => spaced(text).toLowerCase();
  const [a, b] = [cut(expected, COMPARED_CHARACTERS), cut(actual, COMPARED_CHARACTERS)];
  if (a.length < expected.length || b.length < actual.length) return undefined;
  if (matches(trimmed(a), trimmed(b))) return "only white space at the ends is different";
  if (matches(spaced(a), spaced(b))) return "only white space is different";
  if (matches(small(a), small(b))) return "only capital and small letters, or white space, are different";
  const inside = unfenced(b);
  return inside !== undefined && matches(trimmed(a), trimmed(inside)) ? "it stands inside a code fence" : undefined;
}

/** Cuts a text, never in the middle of a character. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const half = text.charCodeAt(max - 1);
  return text.slice(0, half >= 0xd800 && half < 0xdc00 ? max - 1 : max);
}

/**
 * A difference as lines for a terminal or a report. The lines quote foreign text: callers make them safe before they print them.
 */
export function differenceLines(difference: Difference): string[] {
  const { summary } = difference;
  switch (difference.kind) {
    case "none":
      return [summary];
    case "lines":
      return [summary, ...difference.diff.replace(/\n$/, "").split("\n")];
    case "json":
      return [
        summary,
        ...difference.changes.map(({ path, change, before, after }) => {
          const where = path === "" ? "(the whole value)" : path;
          if (change === "added") return `${where}: not expected, got ${json(after)}`;
          if (change === "removed") return `${where}: expected ${json(before)}, got nothing`;
          return `${where}: expected ${json(before)}, got ${json(after)}`;
        }),
      ];
    case "words": {
      const { before, expected, output, after } = difference;
      if (before === "" && after === "")
        return [summary, `expected: ${quoted(expected)}`, `output:   ${quoted(output)}`];
      return [summary, `expected: ${before}[${expected}]${after}`, `output:   ${before}[${output}]${after}`];
    }
  }
}

function json(value: unknown): string {
  return JSON.stringify(value) ?? "nothing";
}

function quoted(text: string): string {
  return text === "" ? "(empty)" : text;
}

/** The place where two texts differ. The common text is shown only as far as it helps to find the place. */
export interface WordChange {
  readonly before: string;
  readonly expected: string;
  readonly output: string;
  readonly after: string;
}

const PART_CHARACTERS = 400;
const CONTEXT_CHARACTERS = 60;

/** Word by word from both ends; everything in between is one change. With "none", the two are only shown side by side. */
function wordChange(expected: string, output: string, shared: "ends" | "none" = "ends"): WordChange {
  const [old, young] = [wordsOf(expected), wordsOf(output)];
  let head = 0;
  let tail = 0;
  if (shared === "ends") {
    while (head < old.length && head < young.length && old[head] === young[head]) head++;
    const most = Math.min(old.length, young.length) - head;
    while (tail < most && old[old.length - 1 - tail] === young[young.length - 1 - tail]) tail++;
  }
  const before = old.slice(0, head).join("");
  const [from, to] = [old.slice(head, old.length - tail).join(""), young.slice(head, young.length - tail).join("")];
  // A word too long to be shown whole is gone through letter by letter, or both would be shown by the same beginning.
  const isLong = shared === "ends" && Math.min(from.length, to.length) > PART_CHARACTERS;
  const same = isLong ? sharedBeginning(from, to) : 0;
  return {
    before: ending(before + from.slice(0, same)),
    expected: beginning(from.slice(same), PART_CHARACTERS),
    output: beginning(to.slice(same), PART_CHARACTERS),
    after: beginning(old.slice(old.length - tail).join(""), CONTEXT_CHARACTERS),
  };
}

function sharedBeginning(a: string, b: string): number {
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  return same;
}

/** White space is kept, as words of its own. */
function wordsOf(text: string): readonly string[] {
  return text.match(/\s+|\S+/g) ?? [];
}

function beginning(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`.toWellFormed();
}

function ending(text: string): string {
  return text.length <= CONTEXT_CHARACTERS ? text : `…${text.slice(-CONTEXT_CHARACTERS)}`.toWellFormed();
}
