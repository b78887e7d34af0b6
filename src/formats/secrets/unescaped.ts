import { lowerBound } from "../text/lower-bound.ts";
import type { TextRange } from "./text-range.ts";

/** A text as its reader will see it, and where the parts of it stand in the text as it is written. */
export interface Unescaped {
  readonly text: string;
  /** The range of the written text that became this one. */
  written(range: TextRange): TextRange;
}

/** What nobody sees: copied along from pages and chats, it stands in the middle of words. */
const UNSEEN = /[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]/;
const LETTERS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };
const ITSELF = `"'/`;

const BACKSLASH = 92;
const PERCENT = 37;

/** Undefined when nothing in it is written in another way. */
export function unescaped(text: string): Unescaped | undefined {
  if (!text.includes("\\") && !text.includes("%") && !UNSEEN.test(text)) return undefined;
  const places: number[] = [];
  const surplus = [0];
  let plain = "";
  let done = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    const found = mayEscape(code) ? escapeAt(text, at, code) : undefined;
    if (found === undefined) {
      // A row of backslashes counts from its beginning only, or a long one would be read again from each of its places.
      at = code === BACKSLASH ? endOfRow(text, at) : at + 1;
      continue;
    }
    plain += text.slice(done, at);
    places.push(plain.length);
    const seen = found.code === undefined ? "" : String.fromCharCode(found.code);
    plain += seen;
    surplus.push((surplus.at(-1) ?? 0) + found.end - at - seen.length);
    at = found.end;
    done = at;
  }
  if (places.length === 0) return undefined;
  const written = (at: number) => at + (surplus[lowerBound(places.length, (i) => (places[i] ?? 0) >= at)] ?? 0);
  return { text: plain + text.slice(done), written: ([start, end]) => [written(start), written(end)] };
}

interface Escape {
  /** The character that is meant; none where nobody sees it. */
  readonly code: number | undefined;
  readonly end: number;
}

function mayEscape(code: number): boolean {
  return code === BACKSLASH || code === PERCENT || code >= 0xad;
}

/** What JSON and URLs write in place of a character, also when that was done several times over. */
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
  if (letter === "u") {
    const code = hexadecimal(text, at + 1, 4);
    return code === undefined ? undefined : { code: isUnseen(code) ? undefined : code, end: at + 5 };
  }
  if (letter === "") return undefined;
  const meant = LETTERS[letter] ?? (ITSELF.includes(letter) ? letter : undefined);
  return meant === undefined ? undefined : { code: meant.charCodeAt(0), end: at + 1 };
}

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
  return code === 0xad || (code >= 0x200b && code <= 0x200f) || (code >= 0x2060 && code <= 0x2064) || code === 0xfeff;
}
