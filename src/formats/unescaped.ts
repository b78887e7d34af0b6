import type { TextRange } from "./text-range.ts";

/** A text as its reader will see it, and where the parts of it stand in the text as it is written. */
export interface Unescaped {
  readonly text: string;
  /** The range of the written text that became this one. */
  written(range: TextRange): TextRange;
}

/**
 * What JSON and URLs write in place of a character, also when that was done several times over. A row of backslashes
 * counts from its beginning only, or a long one would be read again from each of its places.
 */
const ESCAPE =
  /(?<!\\)\\+(?:u([0-9A-Fa-f]{4})|([nrtbf"'/]))|%(?:25)*([0-9A-Fa-f]{2})|[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]+/g;
/** What nobody sees: copied along from pages and chats, it stands in the middle of words. */
const UNSEEN = /[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]/;
const LETTERS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

/** Undefined when nothing in it is written in another way. */
export function unescaped(text: string): Unescaped | undefined {
  if (!text.includes("\\") && !text.includes("%") && !UNSEEN.test(text)) return undefined;
  const places: number[] = [];
  const surplus = [0];
  let plain = "";
  let done = 0;
  for (const match of text.matchAll(ESCAPE)) {
    const [whole, unit, letter = "", byte] = match;
    const code = unit ?? byte;
    plain += text.slice(done, match.index);
    places.push(plain.length);
    const read = code === undefined ? (LETTERS[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16));
    const seen = unit !== undefined && UNSEEN.test(read) ? "" : read;
    plain += seen;
    surplus.push((surplus.at(-1) ?? 0) + whole.length - seen.length);
    done = match.index + whole.length;
  }
  if (places.length === 0) return undefined;
  const written = (at: number) => at + (surplus[countBelow(places, at)] ?? 0);
  return { text: plain + text.slice(done), written: ([start, end]) => [written(start), written(end)] };
}

/** How many of the numbers, which rise, are smaller. */
function countBelow(rising: readonly number[], limit: number): number {
  let from = 0;
  let to = rising.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((rising[middle] ?? 0) < limit) from = middle + 1;
    else to = middle;
  }
  return from;
}
