import { changesBetween, type JsonChange } from "../../engine/runs/decide/json-changes.ts";
import { unfenced } from "../../formats/text/code-fence.ts";
import { unifiedDiff } from "../../formats/text/unified-diff.ts";
import type { GoldenMatch } from "../../protocol/evals/eval-suite.ts";
import { readings } from "./json-match.ts";
import { outputText } from "./output-text.ts";
import { type WordChange, wordChange } from "./word-change.ts";

/** How an output differs from the expected one, for people. Bounded, however long the two are. */
export type Difference =
  | { readonly kind: "none"; readonly summary: string }
  | { readonly kind: "json"; readonly summary: string; readonly changes: readonly JsonChange[] }
  | { readonly kind: "lines"; readonly summary: string; readonly diff: string }
  | ({ readonly kind: "words"; readonly summary: string } & WordChange);

/** Longer texts are compared by their beginnings. */
export const COMPARED_CHARACTERS = 100_000;
/** The limit of a stored difference. */
export const SHOWN_CHARACTERS = 20_000;

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
  const near = nearMiss(expected, actual, (a, b) => b.includes(a));
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
