import { endOfQuoted, isGenerated, lineEnd, opensText, readQuoted, readWord } from "./read-value.ts";
import { checked, isSecretName } from "./secret-names.ts";
import type { TextRange } from "./text-range.ts";

/** Longer lines are read up to here. */
const NEAR = 200;

const WRAPPER = /(?:Some\(|String\(|\s{0,64}string\(\d{1,7}\)[ ]){1,2}(?=\\{0,15}")/y;

/** Past the wrapper that some languages print before a text: `Some("x")`, `String("x")`, `string(1) "x"` of PHP, which has a line of its own. */
export function pastWrapper(text: string, from: number): number {
  WRAPPER.lastIndex = from;
  return WRAPPER.test(text) ? WRAPPER.lastIndex : from;
}

/** A struct or a map of Go: no blank after a colon, and blanks between members, where code has commas. */
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

/** The value of a member as PHP prints it, `[n] => 1`, up to the end of the line, the next member, or the quote around the whole. */
export function printedByPhp(text: string, nameFrom: number, from: number): TextRange | undefined {
  if (text.charAt(nameFrom - 1) !== "[" || text.charAt(nameFrom) === "$") return undefined;
  const [value = ""] = /^(?:(?! \[[\w-]{1,80}\] =>| \)|\\)[^\n"'`])*/.exec(text.slice(from, from + NEAR)) ?? [];
  return [from, from + value.trimEnd().length];
}

/** Types of languages that have a digit in their names. */
const TYPE = /^(?:[iuf]|u?int|float|bytes|char|string|str|utf|base|sha|md|oauth|v)_?-?\d+(?:\w*Array)?\b/i;

/**
 * A generated word after a name and a colon in the middle of a line: in a sentence, a log, or behind a name of several words. It counts
 * where it has letters and digits, and is eight characters long or the last word.
 */
export function generatedInLine(text: string, nameFrom: number, from: number): TextRange | undefined {
  if (!" \t:*_".includes(text.charAt(nameFrom - 1)) || !" \t".includes(text.charAt(from - 1))) return undefined;
  const range = generatedWord(text, from);
  return range[0] === range[1] ? undefined : range;
}

/** The word that begins here; empty where it is an ordinary word. */
export function generatedWord(text: string, from: number): TextRange {
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

/** The lines after `<<END`, up to the line `END`, or all of them where it was cut off. */
export function hereDocument(text: string, from: number): TextRange | undefined {
  HERE.lastIndex = from;
  const mark = HERE.exec(text)?.[1];
  if (mark === undefined) return undefined;
  const lines = text.slice(HERE.lastIndex, HERE.lastIndex + DOCUMENT_MAX);
  const end = new RegExp(`^[ \\t]{0,64}${mark}\\b`, "m").exec(lines)?.index ?? lines.length;
  return [HERE.lastIndex, HERE.lastIndex + lines.slice(0, end).trimEnd().length];
}

const TAGS = /(?:(?:!!\w{1,20}|&[\w-]{1,40})[ \t]{1,64}){1,2}/y;

/** Past the type and the anchor that YAML may have before a value: `!!str x`, `&name x`. */
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

/** The lines below the mark of a block that are indented more than its name is; undefined without a mark. */
export function blockBehind(text: string, mark: number, nameFrom: number): TextRange | undefined {
  if (!"|>".includes(text.charAt(mark))) return undefined;
  let start = nameFrom;
  // The first line of a quoted text begins behind the quote.
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

/** The items of a list below a name, a line each: quoted texts, and words that do not belong to a sentence. */
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

/** A text alone on the line below its name, indented more: where a line of settings would be too long. */
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

const END_TAG = /<\/([A-Za-z][\w:.-]{1,79})\s{0,64}>/y;

/** Values of elements that have a secret name: <password>value</password> */
export function elementSecretsIn(text: string): TextRange[] {
  const found: TextRange[] = [];
  for (let at = text.indexOf("</"), done = 0; at !== -1; at = text.indexOf("</", at + 2)) {
    END_TAG.lastIndex = at;
    const name = END_TAG.exec(text)?.[1];
    if (name === undefined || !isSecretName(name)) continue;
    const range = contentOf(text.slice(done, at), name);
    const value = range === undefined ? undefined : checked(text, [done + range[0], done + range[1]], name);
    if (value !== undefined) found.push(value);
    done = at;
  }
  return found;
}

const CDATA = "<![CDATA[";

/** The text of the element at the end of a part of a document, without the CDATA marks around it. */
function contentOf(part: string, name: string): TextRange | undefined {
  const to = part.trimEnd().length;
  if (part.endsWith("]]>", to)) {
    const from = part.indexOf(CDATA, Math.max(0, part.lastIndexOf(`<${name}`)));
    return from === -1 ? undefined : [from + CDATA.length, to - "]]>".length];
  }
  const from = part.lastIndexOf(">") + 1;
  return from === 0 || part.includes("<", from) ? undefined : [from, part.length];
}
