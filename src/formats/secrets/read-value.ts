import type { TextRange } from "./text-range.ts";

/** A quoted value that is longer is read up to the end of its line only. */
const QUOTED_MAX = 8_192;
/** JSON in JSON in JSON in JSON; deeper ones are read as words. */
export const SLASHES_MAX = 15;
/** So many blanks may stand on each side of what separates a name from its value. */
export const BLANKS_MAX = 64;

/** The value between quotes that begins here; undefined where there is no quote. Quotes may be escaped, as JSON in JSON has them. */
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

/** The length of the mark that languages and shells have before some quotes: b"", f"", @"", $''. */
export function quotePrefix(text: string, at: number): number {
  const mark = text.charAt(at);
  if (mark === "" || !"bfruBFRU@$".includes(mark)) return 0;
  return isQuote(afterSlashes(text, at + 1)) ? 1 : 0;
}

export function isQuote(character: string): boolean {
  return character === '"' || character === "'" || character === "`";
}

/** A quote within a text in single quotes: doubled, as SQL and YAML have it, or with an escaped one between two texts, as shells do. */
const REOPENED = /'(?:\\{0,15}'|"'"|)'(?=[^\s,;)\]}+.'"])/y;

/**
 * Where the quote is that closes: one with as many backslashes as the opening one has. More of them belong to a quote inside the value, or to
 * backslashes at its end, which come in pairs of the same depth.
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

/** Whether this is a word that nobody says: long, or with a digit in it. */
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

/** What follows a quote that closes; a value begins with none of these. */
export const AFTER_QUOTE = " \t\r\n,;)]}+.";
/** What stands before a quote that opens. */
const BEFORE_QUOTE = "=:,([{ \t";

/** Whether a quote begins a text here. Escaped ones are read where they are none. */
export function opensText(text: string, at: number): boolean {
  return isQuote(text.charAt(at)) && BEFORE_QUOTE.includes(text.charAt(at - 1));
}

/** Where a line ends that may be the last one of a text in quotes: before the quote that was not opened in it. */
export function endOfQuoted(text: string, from: number, to: number): number {
  let isOpen = false;
  for (let at = text.indexOf('"', from); at !== -1 && at < to; at = text.indexOf('"', at + 1)) {
    if (isOpen) isOpen = false;
    else if (at === from || opensText(text, at)) isOpen = true;
    else if (AFTER_QUOTE.includes(text.charAt(at + 1))) return at;
  }
  return to;
}

/** These end a value only where something else begins behind them: they can also be part of it. */
const SOFT_ENDS = ",;&)]}>";
const OPENING: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{", ">": "<" };
const NEXT_NAME = /[\w.%-]{1,64}[=:]/y;

/** The word that begins here, up to a blank, a quote, or whatever separates values where it is written. */
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

/** Whether a bracket that closes was opened within the value. */
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
