import { lowerBound } from "../text/collections.ts";
import { requireFew, type TextRange } from "./text-range.ts";

/** A shorter word holds no secret that has a shape. */
const SHORTEST = 20;
/** Random bytes hardly ever contain so many characters of plain text in a row. */
const READABLE = 12;

const SIXTY_FOUR = new Int8Array(128).fill(-1);
[..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].forEach((character, value) => {
  SIXTY_FOUR[character.charCodeAt(0)] = value;
});
// The last two as URLs write them.
SIXTY_FOUR["-".charCodeAt(0)] = 62;
SIXTY_FOUR["_".charCodeAt(0)] = 63;

/**
 * Words in base64 or hexadecimal digits that stand for a text with a secret. Words that do not decode to plain text are skipped without
 * decoding them: nearly all are names and ids.
 */
export function wrappedSecretsIn(text: string, find: (decoded: string) => readonly TextRange[]): TextRange[] {
  const words: TextRange[] = [];
  const ends: number[] = [];
  let all = "";
  for (let at = SHORTEST - 1; at < text.length; at += SHORTEST) {
    if (valueAt(text, at) < 0) continue;
    const [from, to] = wordAround(text, at);
    for (const one of to - from < SHORTEST ? NOTHING : unwrapped(text.slice(from, to))) {
      all += `${one}\n\n`;
      words.push([from, to]);
      ends.push(all.length);
      requireFew(words.length);
    }
    at += Math.floor((to - at) / SHORTEST) * SHORTEST;
  }
  // One search for all of them: each search has a fixed cost, and a text may have thousands of such words.
  return all === "" ? [] : find(all).flatMap((range) => ownersOf(range, words, ends));
}

/** The words that a range of the decoded texts belongs to. */
function ownersOf([from, to]: TextRange, words: readonly TextRange[], ends: readonly number[]): TextRange[] {
  const ownerOf = (at: number) => lowerBound(ends.length, (i) => (ends[i] ?? 0) > at);
  return words.slice(ownerOf(from), ownerOf(Math.max(from, to - 3)) + 1);
}

function valueAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 128 ? (SIXTY_FOUR[code] ?? -1) : -1;
}

/** The word with the line breaks that programs make in it, and the indentation after them. */
function wordAround(text: string, at: number): TextRange {
  let from = at;
  while (from > 0 && valueAt(text, from - 1) >= 0) from--;
  let to = at + 1;
  let width = 0;
  for (let line = from; to < text.length; to++) {
    if (valueAt(text, to) >= 0) continue;
    const next = nextLine(text, to);
    width ||= to - line;
    if (next === undefined || !isWrap(text, next, to - line, width)) break;
    to = next;
    line = next;
  }
  return [from, to];
}

/** As it is, or as JSON writes it. */
const LINE_END = /\r?\n|\r|(?:\\{1,15}r)?\\{1,15}n/y;
/** A longer run of blanks is not an indentation. */
const INDENT_MAX = 64;

/** The beginning of the text in the next line, behind blanks and marks of quotation; undefined where the line does not end here. */
function nextLine(text: string, at: number): number | undefined {
  LINE_END.lastIndex = at;
  if (!LINE_END.test(text)) return undefined;
  const from = LINE_END.lastIndex;
  let next = from;
  while (next < from + INDENT_MAX && " \t>".includes(text.charAt(next) || "\n")) next++;
  return next;
}

/**
 * Whether a word continues in the next line. Lines of base64 are 64 or 76 characters long, or another multiple of four. Shorter lines
 * continue in lines of the same length, and end with a shorter line that has nothing else in it.
 */
function isWrap(text: string, next: number, length: number, width: number): boolean {
  if (valueAt(text, next) < 0) return false;
  if (length >= 60 && length % 4 === 0) return true;
  if (length < SHORTEST || length !== width) return false;
  let to = next + 1;
  while (to <= next + length && valueAt(text, to) >= 0) to++;
  return to - next <= length && text.charAt(to) !== " ";
}

/** The texts that a word may stand for. */
function unwrapped(written: string): readonly string[] {
  const word = /[\r\n\\]/.test(written) ? written.replace(/\\+[rn]|[\s>]+/g, "") : written;
  let texts = NOTHING;
  for (let shift = 0; shift < 4; shift++) {
    if (isReadable(word, shift)) texts = [...texts, decoded(word.slice(shift), "base64")];
  }
  return word.length >= 2 * READABLE ? [...texts, ...hexadecimal(word)] : texts;
}

const NOTHING: readonly string[] = [];

/** Whether a word decodes to plain text, read from one of the four places where it can begin. */
function isReadable(word: string, shift: number): boolean {
  let run = 0;
  for (let at = shift; at + 3 < word.length; at += 4) {
    run = isPlainGroup(word, at) ? run + 3 : 0;
    if (run >= READABLE) return true;
  }
  return false;
}

function isPlainGroup(word: string, at: number): boolean {
  const a = valueAt(word, at);
  // The most significant bits of a letter: two groups of three have others.
  if (a > 31 || (a < 8 && a !== 2 && a !== 3)) return false;
  const b = valueAt(word, at + 1);
  const c = valueAt(word, at + 2);
  const d = valueAt(word, at + 3);
  return isPlain((a << 2) | (b >> 4)) && isPlain(((b & 15) << 4) | (c >> 2)) && isPlain(((c & 3) << 6) | d);
}

function isPlain(byte: number): boolean {
  return (byte >= 32 && byte < 127) || byte === 10 || byte === 13 || byte === 9;
}

const HEXADECIMAL = /(?:[2-7][0-9A-Fa-f]){12}/;

/** Digits that stand for plain text, from the first such place on. */
function hexadecimal(word: string): readonly string[] {
  const found = HEXADECIMAL.exec(word);
  if (found === null) return NOTHING;
  return (word.slice(Math.max(0, found.index - 1)).match(/[0-9A-Fa-f]{24,}/g) ?? []).flatMap((digits) => [
    decoded(digits, "hex"),
    decoded(digits.slice(1), "hex"),
  ]);
}

/** Bytes that are not plain text end a line: no secret continues over them. */
function decoded(word: string, encoding: "base64" | "hex"): string {
  return Buffer.from(word, encoding)
    .toString("latin1")
    .replace(/[^\t\n\r -~]+/g, "\n");
}
