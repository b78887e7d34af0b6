import { isObject } from "../../protocol/own.ts";
import type { ProblemList } from "./suite-problem.ts";

export type Fields = Readonly<Record<string, unknown>>;

export function pointerTo(path: string, name: string): string {
  return `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Validators of one kind of value each: they report problems, and return the value where its parts can be checked. */
export function fieldsOf(
  found: ProblemList,
  path: string,
  value: unknown,
  { required, optional = [] }: { readonly required: readonly string[]; readonly optional?: readonly string[] },
): Fields | undefined {
  if (!isObject(value)) {
    found.add("wrong_type", path, "must be an object", `Write { … } with ${quoted(required)}.`);
    return undefined;
  }
  const known = [...required, ...optional];
  for (const name of required) {
    if (!Object.hasOwn(value, name)) found.add("missing_member", path, `must have "${name}"`, `Add "${name}".`);
  }
  for (const name of Object.keys(value)) {
    if (known.includes(name)) continue;
    const fix = `Remove it; there may be ${quoted(known)}.`;
    found.add("unknown_member", pointerTo(path, name), "is not a member that is known here", fix);
  }
  return value;
}

export function checkName(
  found: ProblemList,
  path: string,
  value: unknown,
  { pattern, max, form }: { readonly pattern: RegExp; readonly max: number; readonly form: string },
): value is string {
  if (typeof value !== "string") {
    found.add("wrong_type", path, "must be a text", `Write ${form}.`);
    return false;
  }
  // Looked at first: a pattern takes its time with a text of megabytes.
  if (value.length <= max && pattern.test(value)) return true;
  const problem = value.length > max ? `is longer than ${max} characters` : "does not have the form of such a name";
  found.add("bad_name", path, problem, `Write ${form}.`);
  return false;
}

export function checkText(found: ProblemList, path: string, value: unknown, what: string): value is string {
  if (typeof value === "string" && value !== "") return true;
  if (value === "") found.add("empty", path, "is empty", `Write ${what}.`);
  else found.add("wrong_type", path, "must be a text", `Write ${what}.`);
  return false;
}

export function checkNumber(
  found: ProblemList,
  path: string,
  value: unknown,
  { max, whole = false }: { readonly max?: number; readonly whole?: boolean },
): value is number {
  const range = max === undefined ? "0 or more" : `from 0 to ${max}`;
  const kind = whole ? "a whole number" : "a number";
  if (typeof value !== "number" || (whole && !Number.isInteger(value))) {
    found.add("wrong_type", path, `must be ${kind}`, `Write ${kind} ${range}.`);
    return false;
  }
  if (value >= 0 && value <= (max ?? Number.MAX_VALUE)) return true;
  found.add("out_of_range", path, `must be ${range}`, `Write ${kind} ${range}.`);
  return false;
}

/** The elements of a list, or nothing when it is none. */
export function listOf(
  found: ProblemList,
  path: string,
  value: unknown,
  { atLeastOne, of }: { readonly atLeastOne: boolean; readonly of: string },
): readonly unknown[] {
  if (!Array.isArray(value)) {
    found.add("wrong_type", path, "must be a list", `Write [ … ] with ${of}.`);
    return [];
  }
  if (atLeastOne && value.length === 0) found.add("empty", path, "is empty", `List at least one: ${of}.`);
  return value;
}

export function checkWord<W extends string>(
  found: ProblemList,
  path: string,
  value: unknown,
  words: readonly W[],
): value is W {
  if ((words as readonly unknown[]).includes(value)) return true;
  found.add("unknown_word", path, "is not a word that is known here", `Write one of ${quoted(words)}.`);
  return false;
}

/** The known words among those given, each once. */
export function checkWords<W extends string>(
  found: ProblemList,
  path: string,
  value: unknown,
  words: readonly W[],
  { atLeastOne }: { readonly atLeastOne: boolean },
): W[] {
  const kept = new Set<W>();
  listOf(found, path, value, { atLeastOne, of: quoted(words) }).forEach((word, i) => {
    const at = `${path}/${i}`;
    if (!checkWord(found, at, word, words)) return;
    if (kept.has(word)) found.add("repeated_word", at, "is in the list already", "Name it once.");
    kept.add(word);
  });
  return [...kept];
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(", ");
}
