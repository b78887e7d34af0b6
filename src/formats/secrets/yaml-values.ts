import { endOfQuoted, isGenerated, lineEnd, opensText, readQuoted } from "./read-value.ts";
import type { TextRange } from "./text-range.ts";

const TAGS = /(?:(?:!!\w{1,20}|&[\w-]{1,40})[ \t]{1,64}){1,2}/y;

/** Behind the type and the anchor that YAML may have before a value: `!!str x`, `&name x`. */
export function pastTags(text: string, from: number): number {
  TAGS.lastIndex = from;
  return TAGS.test(text) ? TAGS.lastIndex : from;
}

const MARK = /(?:[|>][-+0-9]{0,2})?[ \t]{0,64}(?:#[^\n]{0,200})?\r?\n/y;

/** Whether the rest of the line is the mark of a block of lines, or empty. */
export function isOwnLine(text: string, from: number): boolean {
  MARK.lastIndex = from;
  return MARK.test(text);
}

/** The lines below the mark of a block that are indented more than its name is; undefined where there is no mark. */
export function blockBehind(text: string, mark: number, nameFrom: number): TextRange | undefined {
  if (!"|>".includes(text.charAt(mark))) return undefined;
  let start = nameFrom;
  // The first line of a text in quotes begins behind the quote.
  while (start > 0 && text.charAt(start - 1) !== "\n" && !opensText(text, start - 1)) start--;
  const column = nameFrom - start;
  let from = -1;
  let to = -1;
  for (let line = lineEnd(text, mark) + 1; line < text.length; line = lineEnd(text, line) + 1) {
    const first = indented(text, line);
    const end = lineEnd(text, line);
    if (text.slice(first, end).trim() === "") continue;
    if (first - line <= column) break;
    if (from === -1) from = first;
    to = endOfQuoted(text, first, end);
    if (to < end) break;
  }
  return from === -1 ? undefined : [from, text.charAt(to - 1) === "\r" ? to - 1 : to];
}

const ITEM = /[ \t]{0,64}-[ \t]{1,64}/y;
const WORD = /[^\s"'`#:{}[\],&*!|>][^\s"]*(?="|[ \t]{0,64}(?:#[^\n]{0,200})?(?:\r?\n|$))/y;

/** The items of a list that stand below a name, a line each: texts in quotes, and words that are no words of a sentence. */
export function itemsBehind(text: string, from: number): TextRange[] {
  const found: TextRange[] = [];
  for (let line = lineEnd(text, from) + 1; line < text.length; line = lineEnd(text, line) + 1) {
    ITEM.lastIndex = line;
    if (!ITEM.test(text)) break;
    const start = pastTags(text, ITEM.lastIndex);
    const item = readQuoted(text, start) ?? wordOfLine(text, start);
    if (item !== undefined) found.push(item);
    if (item !== undefined && item[1] > line) line = item[1];
  }
  return found;
}

/** A text that has the line below its name for itself, indented more: where a line of settings would be too long. */
export function wordBelow(text: string, from: number, nameFrom: number): TextRange | undefined {
  const line = lineEnd(text, from) + 1;
  const first = indented(text, line);
  if (first - line <= nameFrom - (text.lastIndexOf("\n", nameFrom) + 1)) return undefined;
  const quoted = readQuoted(text, first);
  if (quoted === undefined)
    return /[,;]$/.test(text.slice(line, lineEnd(text, line))) ? undefined : wordOfLine(text, first);
  return /^[ \t\r]*$/.test(text.slice(quoted[1] + 1, lineEnd(text, quoted[1]))) ? quoted : undefined;
}

function wordOfLine(text: string, from: number): TextRange | undefined {
  WORD.lastIndex = from;
  const word = WORD.exec(text)?.[0];
  return word !== undefined && !word.endsWith(":") && isGenerated(word) ? [from, from + word.length] : undefined;
}

function indented(text: string, line: number): number {
  let at = line;
  while (text.charAt(at) === " " || text.charAt(at) === "\t") at++;
  return at;
}
