import type { TextRange } from "./text-range.ts";

/** A longer quoted value is read up to the end of its line only. */
const QUOTED_MAX = 8_192;
/** JSON nested four times; deeper quotes are read as words. */
export const SLASHES_MAX = 15;
/** Blanks on each side of a separator. */
export const BLANKS_MAX = 64;

/** The quoted value that begins here; undefined where there is no quote. Quotes may be escaped, as in nested JSON. */
export function readQuoted(text: string, from: number): TextRange | undefined {
  let at = from + quotePrefix(text, from);
  let slashes = 0;
  while (text.charAt(at) === "\\") {
    at++;
    slashes++;
  }
  const quote = text.charAt(at);
  if (!isQuote(quote) || slashes > SLASHES_MAX) return undefined;
  if (slashes === 0 && text.startsWith(quote.repeat(3), at)) return upTo(text, at + 3, quote.repeat(3));
  return [at + 1, closing(text, at + 1, quote, slashes)];
}

/** The length of the mark before a quote: b"", f"", @"", $''. */
export function quotePrefix(text: string, at: number): number {
  const mark = text.charAt(at);
  if (mark === "" || !"bfruBFRU@$".includes(mark)) return 0;
  return isQuote(afterSlashes(text, at + 1)) ? 1 : 0;
}

export function isQuote(character: string): boolean {
  return character === '"' || character === "'" || character === "`";
}

/** A quote inside single quotes: doubled, as in SQL and YAML, or escaped between two texts, as in shells. */
const REOPENED = /'(?:\\{0,15}'|"'"|)'(?=[^\s,;)\]}+.'"])/y;

/**
 * The position of the closing quote: one with as many backslashes as the opening one. More of them belong to a quote inside the value, or
 * to backslashes at its end, which come in pairs of the same depth.
 */
function closing(text: string, from: number, quote: string, slashes: number): number {
  const last = Math.min(text.length, from + QUOTED_MAX);
  for (let at = text.indexOf(quote, from); at !== -1 && at < last; at = text.indexOf(quote, at + 1)) {
    let count = 0;
    while (at - count > from && text.charAt(at - count - 1) === "\\") count++;
    if (count % (2 * (slashes + 1)) !== slashes) continue;
    REOPENED.lastIndex = at;
    if (quote !== "'" || slashes > 0 || !REOPENED.test(text)) return at - slashes;
    at = REOPENED.lastIndex - 1;
  }
  return lineEnd(text, from);
}

/** Whether a word looks generated: long, or with a digit. */
export function isGenerated(word: string): boolean {
  return /\d|.{16}/.test(word);
}

function upTo(text: string, from: number, end: string): TextRange {
  const at = text.indexOf(end, from);
  return [from, at === -1 || at > from + QUOTED_MAX ? lineEnd(text, from) : at];
}

export function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

/** Characters after a closing quote; no value begins with them. */
export const AFTER_QUOTE = " \t\r\n,;)]}+.";
/** Characters before an opening quote. */
const BEFORE_QUOTE = "=:,([{ \t";

/** Whether a quote opens a text. Escaped quotes are treated as closing. */
export function opensText(text: string, at: number): boolean {
  return isQuote(text.charAt(at)) && BEFORE_QUOTE.includes(text.charAt(at - 1));
}

/** The end of a line that may be the last one of a quoted text: before a quote that was not opened in the line. */
export function endOfQuoted(text: string, from: number, to: number): number {
  let isOpen = false;
  for (let at = text.indexOf('"', from); at !== -1 && at < to; at = text.indexOf('"', at + 1)) {
    if (isOpen) isOpen = false;
    else if (at === from || opensText(text, at)) isOpen = true;
    else if (AFTER_QUOTE.includes(text.charAt(at + 1))) return at;
  }
  return to;
}

/** Characters that end a value only where something else begins after them: they may also be part of it. */
const SOFT_ENDS = ",;&)]}>";
const OPENING: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{", ">": "<" };
const NEXT_NAME = /[\w.%-]{1,64}[=:]/y;

/** The word that begins here, up to a blank, a quote, or a separator of values. */
export function readWord(text: string, from: number, most = Number.POSITIVE_INFINITY): TextRange {
  const last = Math.min(text.length, from + most);
  let at = from;
  for (; at < last; at++) {
    const character = text.charAt(at);
    if (character <= " " || isQuote(character)) break;
    if (character === "\\" && /[nrtu"'`]/.test(afterSlashes(text, at))) break;
    if (character === "<" && text.charAt(at + 1) === "/") break;
    if (SOFT_ENDS.includes(character) && !opens(text, from, at, character) && endsAt(text, at)) break;
  }
  return [from, at];
}

function afterSlashes(text: string, from: number): string {
  let at = from;
  while (at <= from + SLASHES_MAX && text.charAt(at) === "\\") at++;
  return text.charAt(at);
}

/** Whether a closing bracket was opened within the value. */
function opens(text: string, from: number, at: number, character: string): boolean {
  const opening = OPENING[character];
  return opening !== undefined && text.slice(Math.max(from, at - 200), at).includes(opening);
}

function endsAt(text: string, at: number): boolean {
  const next = text.charAt(at + 1);
  if (next <= " " || isQuote(next) || ",;&)]}>.:\\".includes(next)) return true;
  NEXT_NAME.lastIndex = at + 1;
  return NEXT_NAME.test(text);
}
