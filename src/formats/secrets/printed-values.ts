import { readWord } from "./read-value.ts";
import type { TextRange } from "./text-range.ts";

/** Longer lines are read up to here. */
const NEAR = 200;

const WRAPPER = /(?:Some\(|String\(|\s{0,64}string\(\d{1,7}\)[ ]){1,2}(?=\\{0,15}")/y;

/** Behind what some languages print before a text: `Some("x")`, `String("x")`, `string(1) "x"` of PHP, which has its own line. */
export function pastWrapper(text: string, from: number): number {
  WRAPPER.lastIndex = from;
  return WRAPPER.test(text) ? WRAPPER.lastIndex : from;
}

/** A structure or a map of Go: no blank behind a colon, and blanks between members, where code has commas. */
const GO = /(?:(?<!\$)\{[A-Z]\w{0,80}|(?<=\w)\{\w{1,80}|map\[[\w.-]{1,80}):[^\s}]/;
const NOT_IN_GO = "\n,;\"'";

/** The value of a member as Go prints it, up to the blank or the bracket. */
export function printedByGo(text: string, nameFrom: number, from: number): TextRange | undefined {
  const before = text.charAt(nameFrom - 1);
  if (text.charAt(from - 1) !== ":" || (before !== " " && before !== "{" && before !== "[")) return undefined;
  let start = nameFrom;
  while (start > 0 && start > nameFrom - NEAR && !NOT_IN_GO.includes(text.charAt(start - 1))) start--;
  if (!GO.test(text.slice(start, from + 1))) return undefined;
  const [value = ""] = /^[^\s"'`]*/.exec(text.slice(from, from + NEAR)) ?? [];
  return /[,(\\]/.test(value) ? undefined : [from, from + value.replace(/[\]}]{1,9}$/, "").length];
}

/** The value of a member as PHP prints it, `[n] => 1`, up to the end of the line, the next member, or the quote around it all. */
export function printedByPhp(text: string, nameFrom: number, from: number): TextRange | undefined {
  if (text.charAt(nameFrom - 1) !== "[" || text.charAt(nameFrom) === "$") return undefined;
  const [value = ""] = /^(?:(?! \[[\w-]{1,80}\] =>| \)|\\)[^\n"'`])*/.exec(text.slice(from, from + NEAR)) ?? [];
  return [from, from + value.trimEnd().length];
}

/** Types of languages that have a digit in their names. */
const TYPE = /^(?:[iuf]|u?int|float|bytes|char|string|str|utf|base|sha|md|oauth|v)_?-?\d+(?:\w*Array)?\b/i;

/**
 * What follows a name and a colon in the middle of a line: in a sentence, a log, and behind a name of several words. It counts where it has
 * letters and digits, and is eight characters long or the last word.
 */
export function saidInLine(text: string, nameFrom: number, from: number): TextRange | undefined {
  if (!" \t:*_".includes(text.charAt(nameFrom - 1)) || !" \t".includes(text.charAt(from - 1))) return undefined;
  const range = wordSaid(text, from);
  return range[0] === range[1] ? undefined : range;
}

/** The word that begins here; empty where it is one that people say. */
export function wordSaid(text: string, from: number): TextRange {
  const [, to] = readWord(text, from, NEAR);
  const word = text.slice(from, to).replace(/[.,;:!?)*_]{1,9}$/, "");
  if (!/\d/.test(word) || !/[a-z]/i.test(word) || TYPE.test(word) || NO_WORD.test(word)) return [from, from];
  const isLast = LAST.test(text.slice(from + word.length, from + word.length + NEAR));
  return isLast || word.length >= 8 ? [from, from + word.length] : [from, from];
}

/** Addresses, paths, code, names of types with their modules, days, and amounts with a unit. */
const NO_WORD =
  /:\/\/|^[/\\]|[()[\]{}]|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|^[\w.-]+@[\w-]+(?:\.[a-z]+)+$|^\d{4}-\d\d-\d\d|^\d+(?:\.\d+)?[a-z]{1,7}$/i;
const LAST = /^(?:[.!*_]{0,3}[ \t]*(?:\r?\n|$|#|["'`]|\\n)|[,;] )/;

/** Markdown has a name in bold with its colon or without it. */
export function pastBold(text: string, from: number): number {
  return text.startsWith("**", from) || text.startsWith("__", from) ? from + 2 : from;
}

export function beforeBold(text: string, to: number): number {
  return text.startsWith("**", to - 2) || text.startsWith("__", to - 2) ? to - 2 : to;
}

const HERE = /<<[-~]?\s?["']?([A-Za-z_]\w{0,40})["']?[^\n]{0,80}\n/y;

/** A longer document is read as other text. */
const DOCUMENT_MAX = 8_192;

/** The lines after `<<END`, up to the one that is `END`, or all where it was cut off. */
export function hereDocument(text: string, from: number): TextRange | undefined {
  HERE.lastIndex = from;
  const mark = HERE.exec(text)?.[1];
  if (mark === undefined) return undefined;
  const lines = text.slice(HERE.lastIndex, HERE.lastIndex + DOCUMENT_MAX);
  const end = new RegExp(`^[ \\t]{0,64}${mark}\\b`, "m").exec(lines)?.index ?? lines.length;
  return [HERE.lastIndex, HERE.lastIndex + lines.slice(0, end).trimEnd().length];
}
