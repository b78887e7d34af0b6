import { lowerBound } from "../text/collections.ts";
import type { TextRange } from "./text-range.ts";

/** A text as its reader sees it, with the positions of its parts in the written text. */
export interface Unescaped {
  readonly text: string;
  /** The range of the written text that became this one. */
  written(range: TextRange): TextRange;
}

/** Invisible characters, with those of direction and variants of signs: copied from pages and chats, they stand in the middle of words. */
const UNSEEN = /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]|[\ufe00-\ufe0f]/;
const LETTERS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };
const ITSELF = `"'/`;

const BACKSLASH = 92;
const PERCENT = 37;
/** The characters that begin a terminal sequence, in seven and in eight bits. */
const ESCAPE = 27;
const EIGHT_BIT_CSI = 0x9b;
const INTRODUCERS = [ESCAPE, EIGHT_BIT_CSI].map((code) => String.fromCharCode(code));

/**
 * The text with its escapes read and without invisible characters; empty where nothing in it is escaped. A text with terminal sequences is
 * read twice: without them, since they stand inside names, and with a character between words in place of each, since a secret may begin
 * behind them.
 */
export function unescaped(text: string): readonly Unescaped[] {
  const readings = readable(text);
  const plain = readings.length === 0 ? [AS_IT_IS(text)] : readings;
  return [...readings, ...plain.flatMap((one) => then(one, withoutMargins(one.text)))];
}

const AS_IT_IS = (text: string): Unescaped => ({ text, written: (range) => range });

/** Two readings of a text, one applied to the result of the other. */
function then(first: Unescaped | undefined, second: Unescaped | undefined): readonly Unescaped[] {
  if (second === undefined) return [];
  if (first === undefined) return [second];
  return [{ text: second.text, written: (range) => first.written(second.written(range)) }];
}

function readable(text: string): readonly Unescaped[] {
  const isEscaped = text.includes("\\") || text.includes("%") || UNSEEN.test(text);
  const plain = isEscaped ? rewritten(text, escapeAt) : undefined;
  // After the escapes, since the character that begins a sequence may be written as one.
  const given = plain?.text ?? text;
  const read = plain === undefined ? [] : [plain];
  if (!INTRODUCERS.some((introducer) => given.includes(introducer))) return read;
  return [unseenSequence, partingSequence].flatMap((sequence): readonly Unescaped[] => {
    const seen = rewritten(given, sequence);
    return seen === undefined ? read : then(plain, seen);
  });
}

/** A text with parts of it replaced, in order. */
class Rewriting {
  readonly #text: string;
  readonly #places: number[] = [];
  readonly #surplus = [0];
  #plain = "";
  #done = 0;

  constructor(text: string) {
    this.#text = text;
  }

  replace(from: number, to: number, seen: string): void {
    this.#plain += this.#text.slice(this.#done, from);
    this.#places.push(this.#plain.length);
    this.#plain += seen;
    this.#surplus.push((this.#surplus.at(-1) ?? 0) + to - from - seen.length);
    this.#done = to;
  }

  /** Undefined where nothing was replaced. */
  read(): Unescaped | undefined {
    const places = this.#places;
    const surplus = this.#surplus;
    if (places.length === 0) return undefined;
    const written = (at: number) => at + (surplus[lowerBound(places.length, (i) => (places[i] ?? 0) >= at)] ?? 0);
    return {
      text: this.#plain + this.#text.slice(this.#done),
      written: ([start, end]) => [written(start), written(end)],
    };
  }
}

/** A text with each escape replaced by its character. */
function rewritten(text: string, read: typeof escapeAt): Unescaped | undefined {
  const rewriting = new Rewriting(text);
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    const found = mayEscape(code) ? read(text, at, code) : undefined;
    if (found === undefined) {
      // A row of backslashes counts from its beginning only; otherwise a long row would be read again from each of its places.
      at = code === BACKSLASH ? endOfRow(text, at) : at + 1;
      continue;
    }
    rewriting.replace(at, found.end, found.code === undefined ? "" : String.fromCharCode(found.code));
    at = found.end;
  }
  return rewriting.read();
}

/** Prefixes that programs write before a line of a text that they show: a time, a file with or without a number, a number, an author. */
const PLACES = [
  String.raw`\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,:Z+-]{0,20}\]?[ \t]`,
  String.raw`[\w@./-]{1,160}[:-]\d{1,7}[:-]`,
  String.raw`(?=[\w@-]{0,60}[./])[\w@./-]{1,160}:`,
  String.raw`[ \t]{0,16}L?\d{1,7}(?:[ \t]{0,4}[→|│:.)-][ ]?|[ \t])`,
  String.raw`[\w.-]{1,64}[ \t]{1,32}[|│][ \t]`,
];
/** The marks of quotes and of changes. */
const MARKS = ["(?:>[ ]?){1,8}", String.raw`\+`, String.raw`-(?! \S)`];

const PLACE = new RegExp(PLACES.join("|"), "y");
const MARGIN = new RegExp([...PLACES, ...MARKS].join("|"), "y");

/** A text without the prefixes that programs write before each line of a text that they show: the text itself may contain lists and blocks. */
function withoutMargins(text: string): Unescaped | undefined {
  const rewriting = new Rewriting(text);
  for (let line = 0; line !== -1; line = nextLine(text, line)) {
    const end = endOf(text.charAt(line - 1) === '"' ? PLACE : MARGIN, text, line);
    if (end === undefined) continue;
    rewriting.replace(line, end, "");
    line = end;
  }
  return rewriting.read();
}

/** The beginning of a line, or of a quoted text. */
const LINE = /\n|(?<=^|[=:,([{ \t])"/g;

function nextLine(text: string, from: number): number {
  LINE.lastIndex = from;
  return LINE.test(text) ? LINE.lastIndex : -1;
}

interface Escape {
  /** The character that is meant; undefined where it is invisible. */
  readonly code: number | undefined;
  readonly end: number;
}

function mayEscape(code: number): boolean {
  return code === BACKSLASH || code === PERCENT || code === ESCAPE || code >= EIGHT_BIT_CSI;
}

const CSI = "[0-?]{0,64}[ -/]{0,8}[@-~]";
/** Colours and movements, and choices of a character set. */
const COLOUR = new RegExp(String.raw`\[${CSI}|[()*+][0-9A-Za-z]`, "y");
const EIGHT_BIT_COLOUR = new RegExp(CSI, "y");
/** Titles and links; a longer one, or one without an end, stays visible. */
const TITLE = new RegExp(
  String.raw`\][ -~]{0,2048}(?:${String.fromCharCode(7)}|${String.fromCharCode(ESCAPE)}\\)`,
  "y",
);

function unseenSequence(text: string, at: number, code: number): Escape | undefined {
  const end = endOfColour(text, at, code) ?? (code === ESCAPE ? endOf(TITLE, text, at + 1) : undefined);
  return end === undefined ? undefined : { code: undefined, end };
}

/** Titles and links stay, so that their text is read too. */
function partingSequence(text: string, at: number, code: number): Escape | undefined {
  const end = endOfColour(text, at, code);
  return end === undefined ? undefined : { code: ESCAPE, end };
}

function endOfColour(text: string, at: number, code: number): number | undefined {
  if (code === ESCAPE) return endOf(COLOUR, text, at + 1);
  return code === EIGHT_BIT_CSI ? endOf(EIGHT_BIT_COLOUR, text, at + 1) : undefined;
}

/** The end of the match that begins here. */
function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** Escapes of JSON, URLs and string literals, also when applied several times over. */
function escapeAt(text: string, at: number, code: number): Escape | undefined {
  if (code === BACKSLASH) return backslashed(text, endOfRow(text, at));
  if (code === PERCENT) return percentEncoded(text, at);
  return isUnseen(code) ? { code: undefined, end: at + 1 } : undefined;
}

function endOfRow(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === BACKSLASH) at++;
  return at;
}

function backslashed(text: string, at: number): Escape | undefined {
  const letter = text.charAt(at);
  if (letter === "u" || letter === "x") {
    const digits = letter === "u" ? 4 : 2;
    const code = hexadecimal(text, at + 1, digits);
    return code === undefined ? undefined : { code: isUnseen(code) ? undefined : code, end: at + 1 + digits };
  }
  if (letter === "") return undefined;
  const end = endOf(ESCAPE_IN_LITERAL, text, at);
  if (end !== undefined) return { code: ESCAPE, end };
  const meant = LETTERS[letter] ?? (ITSELF.includes(letter) ? letter : undefined);
  return meant === undefined ? undefined : { code: meant.charCodeAt(0), end: at + 1 };
}

/** The character that begins a sequence, as shells and languages write it; anywhere else these are parts of paths and patterns. */
const ESCAPE_IN_LITERAL = /(?:033|e|E)(?=[[\]()])/y;

function percentEncoded(text: string, from: number): Escape | undefined {
  let at = from + 1;
  while (text.startsWith("25", at)) at += 2;
  const code = hexadecimal(text, at, 2);
  if (code !== undefined) return { code, end: at + 2 };
  return at > from + 1 ? { code: PERCENT, end: at } : undefined;
}

function hexadecimal(text: string, from: number, digits: number): number | undefined {
  let code = 0;
  for (let at = from; at < from + digits; at++) {
    const digit = text.charCodeAt(at);
    const lower = digit | 32;
    if (digit >= 48 && digit <= 57) code = code * 16 + digit - 48;
    else if (lower >= 97 && lower <= 102) code = code * 16 + lower - 87;
    else return undefined;
  }
  return code;
}

function isUnseen(code: number): boolean {
  if (code < 0x200b) return code === 0xad || code === 0x61c || code === 0x180e;
  if (code < 0x2070) return code <= 0x200f || (code >= 0x202a && code <= 0x202e) || code >= 0x2060;
  return (code >= 0xfe00 && code <= 0xfe0f) || code === 0xfeff;
}
