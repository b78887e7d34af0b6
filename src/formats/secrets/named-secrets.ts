import { optionSecretsIn } from "./option-secrets.ts";
import { pairedSecretsIn } from "./paired-secrets.ts";
import {
  AFTER_QUOTE,
  BLANKS_MAX,
  endOfQuoted,
  isQuote,
  lineEnd,
  opensText,
  quotePrefix,
  readQuoted,
  readWord,
  SLASHES_MAX,
} from "./read-value.ts";
import { checked, isHeaderName, isSecretName, NAME_MAX, schemeLength } from "./secret-names.ts";
import { requireFew, type TextRange } from "./text-range.ts";
import {
  beforeBold,
  blockBehind,
  elementSecretsIn,
  generatedInLine,
  generatedWord,
  hereDocument,
  isOwnLine,
  itemsBehind,
  pastBold,
  pastTags,
  pastWrapper,
  printedByGo,
  printedByPhp,
  wordBelow,
} from "./value-notations.ts";

/**
 * Values that are secret by the name before them: after `=`, in quotes, in a header line, in a JSON member, in an XML element, after an
 * option. Sentences stay: "the password: ask Ana".
 *
 * The text is searched for separators, and names are read backwards from them. No two separators share a name, and the search continues
 * after a value, so the time is proportional to the text.
 */
export function namedSecretsIn(text: string): TextRange[] {
  return [
    ...assigned(text),
    ...members(text),
    ...optionSecretsIn(text),
    ...elementSecretsIn(text),
    ...pairedSecretsIn(text),
  ].filter(([from, to]) => to > from);
}

interface Name {
  readonly name: string;
  readonly from: number;
  readonly isQuoted: boolean;
}

/** `NAME=value`, with or without blanks and quotes. */
function assigned(text: string): TextRange[] {
  const found: TextRange[] = [];
  for (let at = text.indexOf("="); at !== -1; ) {
    const values = valuesAssigned(text, at);
    for (const value of values) found.push(value);
    requireFew(found.length);
    at = text.indexOf("=", Math.max(values.at(-1)?.[1] ?? 0, at + (text.charAt(at + 1) === "=" ? 2 : 1)));
  }
  return found;
}

function valuesAssigned(text: string, at: number): readonly TextRange[] {
  const isArrow = text.charAt(at + 1) === ">";
  if (text.charAt(at + 1) === "=" || "=!<>+*/|^~-".includes(text.charAt(at - 1) || "=")) return NOTHING;
  const found = nameBefore(text, at);
  if (found === undefined) return NOTHING;
  const { name } = found;
  const from = pastWrapper(text, skipBlanks(text, isArrow ? at + 2 : at + 1));
  if (closesLabel(text, found, from)) return NOTHING;
  const texts = text.charAt(from) === "[" ? listed(text, from + 1) : [];
  if (texts.length > 0) return allChecked(text, texts, name);
  const quoted = readQuoted(text, from) ?? hereDocument(text, from) ?? standIn(text, from);
  if (quoted !== undefined) return allChecked(text, [quoted], name);
  const printed = isArrow && !found.isQuoted ? printedByPhp(text, found.from, from) : undefined;
  if (printed !== undefined) return allChecked(text, [printed], name);
  if (isArrow || isExpression(text, from, name, from > at + 1)) return NOTHING;
  return allChecked(text, [afterScheme(text, from)], name);
}

/** Code that looks a value up, followed by its default. */
const STAND_IN =
  /[A-Za-z_$][\w$.?]{0,100}(?:[([]["'][\w.-]{0,80}["'][)\]])?[ \t]{0,8}(?:\|\||\?\?|\?:|or(?=\s))[ \t]{0,8}(?=["'`])/y;

function standIn(text: string, from: number): TextRange | undefined {
  STAND_IN.lastIndex = from;
  return STAND_IN.test(text) ? readQuoted(text, STAND_IN.lastIndex) : undefined;
}

/** The value after its scheme: `Authorization=Bearer x`. */
function afterScheme(text: string, from: number): TextRange {
  const [, to] = readWord(text, from, 40);
  const scheme = text.charAt(to) === " " ? schemeLength(text.slice(from, from + 40)) : 0;
  return readWord(text, from + scheme);
}

const PATH = /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)*$/;
const CALL = /^(?:await\s|new\s)?[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)*[([]/;
/** Beginnings of code that looks a value up. */
const HEADS =
  /^(?:this|self|cls|config|settings|process|env|os|args|options|opts|props|req|request|ctx|context|params|state)\./;

/** Longer code is read as a value. */
const CODE_MAX = 200;

/** Whether a value is code that computes one. Names of environment variables are followed by values, not by code. */
function isExpression(text: string, from: number, name: string, isSpaced: boolean): boolean {
  if (!isSpaced && /^[A-Z0-9_]+$/.test(name)) return false;
  const code = text.slice(from, from + CODE_MAX);
  if (CALL.test(code)) return true;
  const word = code.slice(0, readWord(code, 0)[1]);
  if (word.length === CODE_MAX || !PATH.test(word)) return false;
  // A member assigned from the variable of its own name: `self.password = password`.
  if (name.includes(".") && /[._$]/.test(name.charAt(name.length - word.length - 1)) && name.endsWith(word))
    return true;
  if (word.includes(".") && (HEADS.test(word) || isSecretName(word))) return true;
  return isSpaced && !/\d/.test(word) && (word.includes(".") || code.charAt(word.length) === ";");
}

/** Characters before a name that are searched for the quote of a label. */
const LABEL_MAX = 96;

/**
 * Whether the quote after a name closes the text around the name: `print("password: ", x)`. Read as an opening quote, it would hide
 * everything up to the next quote.
 */
function closesLabel(text: string, { from: nameFrom, isQuoted }: Name, from: number): boolean {
  const at = from + quotePrefix(text, from);
  const quote = text.charCodeAt(at);
  if (isQuoted || !isQuote(text.charAt(at)) || !AFTER_QUOTE.includes(text.charAt(at + 1))) return false;
  let isOpen = false;
  for (let i = nameFrom - 1; i >= Math.max(0, nameFrom - LABEL_MAX); i--) {
    const code = text.charCodeAt(i);
    if (code === quote) isOpen = !isOpen;
    else if (code === NEW_LINE || (code === LETTER_N && text.charCodeAt(i - 1) === BACKSLASH)) break;
  }
  return isOpen;
}

const NEW_LINE = 10;
const BACKSLASH = 92;
const LETTER_N = 110;

/** `"name": "value"`, and lines of headers and settings. */
function members(text: string): TextRange[] {
  const found: TextRange[] = [];
  for (let at = text.indexOf(":"); at !== -1; ) {
    const values = valuesOfMember(text, at);
    for (const value of values) found.push(value);
    requireFew(found.length);
    at = text.indexOf(":", Math.max(values.at(-1)?.[1] ?? 0, at + 1));
  }
  return found;
}

const NOTHING: readonly TextRange[] = [];

function valuesOfMember(text: string, at: number): readonly TextRange[] {
  const next = text.charAt(at + 1);
  if (next === ":" || next === "=" || next === "/" || text.charAt(at - 1) === ":") return NOTHING;
  const found = nameBefore(text, at);
  if (found === undefined) return NOTHING;
  const { name } = found;
  const several = valuesOfYaml(text, at + 1, found);
  if (several !== undefined) return allChecked(text, several, name);
  const from = pastWrapper(text, pastTags(text, skipBlanks(text, pastBold(text, at + 1), found.isQuoted)));
  if (closesLabel(text, found, from)) return NOTHING;
  if (text.charAt(from) === "[") return allChecked(text, listed(text, from + 1), name);
  const quoted = readQuoted(text, from) ?? declared(text, from, name) ?? standIn(text, from);
  const value = quoted === undefined ? inLine(text, from, found) : checked(text, quoted, name);
  return value === undefined ? [] : [value];
}

function allChecked(text: string, ranges: readonly TextRange[], name: string): readonly TextRange[] {
  return ranges.flatMap((range): TextRange[] => {
    const value = checked(text, range, name);
    return value === undefined ? [] : [value];
  });
}

/** The lines below a name followed by nothing or by a block mark; undefined where the value is on the same line. */
function valuesOfYaml(
  text: string,
  from: number,
  { from: nameFrom, isQuoted }: Name,
): readonly TextRange[] | undefined {
  const mark = pastTags(text, skipBlanks(text, from));
  const start = isQuoted ? nameFrom - 1 : nameFrom;
  if (!isOwnLine(text, mark) || !beginsLine(text, start)) return undefined;
  const block = blockBehind(text, mark, start) ?? wordBelow(text, mark, start);
  const values = block === undefined ? itemsBehind(text, mark) : [block];
  return values.length === 0 ? undefined : values;
}

function listed(text: string, from: number): TextRange[] {
  const found: TextRange[] = [];
  for (let at = skipBlanks(text, from, true); found.length < 1_000; ) {
    const item = readQuoted(text, at);
    if (item === undefined) break;
    found.push(item);
    at = skipBlanks(text, item[1] + 1, true);
    if (text.charAt(at) === ",") at = skipBlanks(text, at + 1, true);
  }
  return found;
}

const DECLARED = /[A-Za-z_&][\w.<>[\]|&' ]{0,64}=\s{0,64}(?=["'`\\]|[brfu]["'])/y;

/** `name: Type = "value"`, a variable declaration; parts of a header have no blank before the equals sign. */
function declared(text: string, from: number, name: string): TextRange | undefined {
  DECLARED.lastIndex = from;
  const type = DECLARED.exec(text)?.[0];
  if (type === undefined || (isHeaderName(name) && !type.includes(" ="))) return undefined;
  return readQuoted(text, from + type.length);
}

const JSON_LITERAL = /^(?:-?\d[\d.eE+-]*|true|false|null)[,}\]]*$/;

/** An unquoted value after a colon: a header, or a setting on a line of its own. */
function inLine(text: string, from: number, { name, from: nameFrom, isQuoted }: Name): TextRange | undefined {
  const before = text.charAt(nameFrom - 1);
  const opened = !isQuoted && isQuote(before) ? before : undefined;
  if (opened === undefined && !beginsLine(text, isQuoted ? nameFrom - 1 : nameFrom)) {
    if (isHeaderName(name)) return generated(text, from, name);
    const inLine = isQuoted ? undefined : (generatedInLine(text, nameFrom, from) ?? printedByGo(text, nameFrom, from));
    return inLine === undefined ? undefined : checked(text, inLine, name);
  }
  const line = lineOf(text, from, opened);
  if (isHeaderName(name) && (name.includes("-") || schemeLength(line) > 0 || isCookie(name, line))) {
    return checked(text, [from, from + line.length], name);
  }
  const [, to] = readWord(text, from);
  const word = text.slice(from, to);
  const rest = line.slice(to - from).trim();
  if (JSON_LITERAL.test(word) && isQuoted) return undefined;
  // A comma or a semicolon after it is code: a type, or a variable.
  const isLast =
    rest === "" || rest.startsWith("#") || (isQuote(rest.charAt(0)) && AFTER_QUOTE.includes(rest.charAt(1)));
  if (!isLast)
    return /^[ \t]/.test(line.slice(to - from)) ? allChecked(text, [generatedWord(text, from)], name)[0] : undefined;
  if (CALL.test(word)) return undefined;
  if (PATH.test(word) && HEADS.test(word)) return undefined;
  return checked(text, [from, to], name);
}

/** A cookie has an equals sign; a sentence about cookies has none. */
function isCookie(name: string, line: string): boolean {
  return name.toLowerCase() === "cookie" && line.includes("=");
}

/** Longer quoted text is not a header. */
const QUOTED_HEADER_MAX = 4_096;

/** The rest of the line, or of the quoted text in it. */
function lineOf(text: string, from: number, quote: string | undefined): string {
  if (quote === undefined) return text.slice(from, endOfQuoted(text, from, lineEnd(text, from))).trimEnd();
  const [line = ""] = text.slice(from, from + QUOTED_HEADER_MAX).split("\n", 1);
  const close = line.indexOf(quote);
  return (close === -1 ? line : line.slice(0, close)).trimEnd();
}

/** In the middle of a line only generated words count. */
function generated(text: string, from: number, name: string): TextRange | undefined {
  const range = afterScheme(text, from);
  const word = text.slice(range[0], range[1]);
  return /\d/.test(word) || word.length >= 16 ? checked(text, range, name) : undefined;
}

const INDENTS = " \t\"'-<>*|#+";

function beginsLine(text: string, from: number): boolean {
  for (let at = from - 1; at >= Math.max(0, from - 64); at--) {
    const character = text.charAt(at);
    if (character === "\n" || character === "\r" || opensText(text, at)) return true;
    if (!INDENTS.includes(character)) return false;
  }
  return from <= 64;
}

const IN_NAME = new Uint8Array(128);
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$-") {
  IN_NAME[character.charCodeAt(0)] = 1;
}

/** The secret name that ends before a separator: alone, in quotes, or as an index. */
function nameBefore(text: string, separator: number): Name | undefined {
  let to = beforeBold(text, endBefore(text, separator));
  if (text.charAt(to - 1) === "?" || (text.charAt(separator) === "=" && text.charAt(to - 1) === ":")) {
    to = endBefore(text, to - 1);
  }
  if (text.charAt(to - 1) === "]") to--;
  const isQuoted = isQuote(text.charAt(to - 1));
  if (isQuoted) {
    const quote = --to;
    while (to > quote - SLASHES_MAX && text.charAt(to - 1) === "\\") to--;
  }
  let from = to;
  while (from > 0 && to - from <= NAME_MAX && IN_NAME[text.charCodeAt(from - 1)] === 1) from--;
  const name = text.slice(from, to);
  if (isSecretName(name)) return { name, from, isQuoted };
  if (!/^key$/i.test(name) || text.charAt(from - 1) !== " ") return undefined;
  const whole = /[A-Za-z]{1,20}$/.exec(text.slice(Math.max(0, from - 21), from - 1))?.[0] ?? "";
  const both = `${whole} ${name}`;
  return isSecretName(both) ? { name: both, from: from - 1 - whole.length, isQuoted } : undefined;
}

/** The end of the text before blanks. */
function endBefore(text: string, blanksTo: number): number {
  let to = blanksTo;
  while (to > blanksTo - BLANKS_MAX && (text.charAt(to - 1) === " " || text.charAt(to - 1) === "\t")) to--;
  return to;
}

function skipBlanks(text: string, from: number, overLines = false): number {
  let at = from;
  const last = from + BLANKS_MAX;
  while (at < last) {
    const character = text.charAt(at);
    if (character !== " " && character !== "\t" && !(overLines && (character === "\n" || character === "\r"))) break;
    at++;
  }
  return at;
}
