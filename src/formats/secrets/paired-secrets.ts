import { isQuote, readQuoted } from "./read-value.ts";
import { checked, isSecretName } from "./secret-names.ts";
import { requireFew, type TextRange } from "./text-range.ts";

/** Members that name another member: `{ "name": "DB_PASSWORD", "value": "…" }`. */
export const NAMING: ReadonlySet<string> = new Set([
  ...["name", "key", "header", "variable", "variableName", "Name", "Key"],
]);
/** Members that hold the value of a named member. */
export const NAMED: ReadonlySet<string> = new Set(["value", "defaultValue", "default", "Value"]);

const DEPTH_MAX = 64;
const QUOTED_DEPTH_MAX = 3;

const FIRST =
  /(?<![\w.$-])(?:[Nn]ame|[Kk]ey|header|variable|variableName|[Vv]alue|defaultValue|default)["']?[ \t]{0,64}:/g;
const MEMBER = /["']?([A-Za-z_$][\w.$-]{0,79})["']?[ \t]{0,64}:[ \t]{0,64}/y;
/** A comma, or the end of a line; blank lines and comments may follow. */
const SEPARATOR =
  /[ \t]{0,64}(?:,|(?:#[^\n]{0,200})?\r?\n)(?:\s{0,64}(?:#|\/\/)[^\n]{0,200}\n){0,8}\s{0,64}(?=["'A-Za-z_$])/y;
/** Up to a comment or the next member name, so that a long line is not read again for each member. */
const PLAIN = /[^\s"'`,{}[\]](?:(?!:[ \t]|[ \t]#)[^\n,{}[\]])*/y;
const WHOLE_PLAIN = /[^\n,{}[\]]*/y;
const BLANKS = /\s{0,64}/y;

/** Values named by a neighbouring member, in JSON and in settings with one member a line. */
export function pairedSecretsIn(text: string, depth = 0): TextRange[] {
  const found: TextRange[] = [];
  if (!/value|default/i.test(text)) return found;
  let at = 0;
  for (let match = firstFrom(text, 0); match !== null; match = firstFrom(text, at)) {
    at = Math.max(match.index + 1, readMembers(text, match.index, found, depth));
    requireFew(found.length);
  }
  return found;
}

function firstFrom(text: string, from: number): RegExpExecArray | null {
  FIRST.lastIndex = from;
  return FIRST.exec(text);
}

interface Value {
  readonly range: TextRange;
  readonly isQuoted: boolean;
}

/** The members of one object that belong together. */
interface Pairs {
  secretName: string | undefined;
  readonly values: Value[];
  isCode: boolean;
}

/** An object, or a list whose items are values of its member. */
interface Level {
  readonly pairs: Pairs;
  readonly listOf: string | undefined;
}

/**
 * Reads members and the objects and lists among their values, up to other text; returns the end. Text is not read twice, so the time is
 * proportional to it. A word after a comma is a variable, which only code has.
 */
function readMembers(text: string, start: number, found: TextRange[], depth: number): number {
  const levels: Level[] = [{ pairs: { secretName: undefined, values: [], isCode: false }, listOf: undefined }];
  let at = start;
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const { pairs, listOf } = level;
    MEMBER.lastIndex = at;
    const name = listOf ?? MEMBER.exec(text)?.[1];
    if (name === undefined && !isEnd(text, at)) break;
    let from = listOf === undefined && name !== undefined ? MEMBER.lastIndex : at;
    const opening = text.charAt(from);
    if (name !== undefined && (opening === "{" || opening === "[") && levels.length < DEPTH_MAX) {
      const own = opening === "{" ? { secretName: undefined, values: [], isCode: false } : pairs;
      levels.push({ pairs: own, listOf: opening === "[" ? name : undefined });
      at = endOfBlanks(text, from + 1);
      continue;
    }
    if (name !== undefined && !isEnd(text, from)) {
      const value = valueAt(text, from);
      if (value === undefined) break;
      record(text, level, name, value);
      const [valueFrom, valueTo] = value.range;
      at = value.isQuoted ? valueFrom : valueTo;
      if (value.isQuoted && !isQuote(text.charAt(valueTo))) break;
      if (value.isQuoted && depth < QUOTED_DEPTH_MAX) {
        const inner = pairedSecretsIn(text.slice(valueFrom, valueTo), depth + 1);
        for (const [one, other] of inner) found.push([valueFrom + one, valueFrom + other]);
      }
      from = at = value.isQuoted ? valueTo + 1 : valueTo;
    }
    while (levels.length > 1 && isEnd(text, endOfBlanks(text, from))) {
      from = at = endOfBlanks(text, from) + 1;
      const closed = levels.pop();
      if (closed?.listOf === undefined) settle(text, closed?.pairs, found);
    }
    const current = levels.at(-1);
    const separator = current?.listOf === undefined ? SEPARATOR : ITEM_SEPARATOR;
    separator.lastIndex = from;
    const parted = separator.exec(text)?.[0];
    if (parted === undefined || current === undefined) break;
    if (parted.includes(",") && current.listOf === undefined) current.pairs.isCode = true;
    at = separator.lastIndex;
  }
  for (const { pairs } of levels) settle(text, pairs, found);
  return at;
}

const ITEM_SEPARATOR = /\s{0,64},\s{0,64}/y;

function isEnd(text: string, at: number): boolean {
  return text.charAt(at) === "}" || text.charAt(at) === "]";
}

function endOfBlanks(text: string, from: number): number {
  BLANKS.lastIndex = from;
  BLANKS.test(text);
  return BLANKS.lastIndex;
}

function record(text: string, { pairs, listOf }: Level, name: string, value: Value): void {
  if (NAMED.has(name)) pairs.values.push(value);
  if (listOf !== undefined || !NAMING.has(name)) return;
  const called = text.slice(...value.range);
  if (!called.includes(" ") && isSecretName(called)) pairs.secretName ??= called;
}

function settle(text: string, pairs: Pairs | undefined, found: TextRange[]): void {
  const name = pairs?.secretName;
  if (pairs === undefined || name === undefined) return;
  for (const { range, isQuoted } of pairs.values.splice(0)) {
    if (pairs.isCode && !isQuoted) continue;
    const value = checked(text, isQuoted ? range : wholePlain(text, range), name);
    if (value !== undefined) found.push(value);
  }
}

function wholePlain(text: string, [from, to]: TextRange): TextRange {
  WHOLE_PLAIN.lastIndex = to;
  const rest = text.charAt(to) === ":" ? (WHOLE_PLAIN.exec(text)?.[0].trimEnd() ?? "") : "";
  return [from, to + rest.length];
}

function valueAt(text: string, from: number): Value | undefined {
  const quoted = readQuoted(text, from);
  if (quoted !== undefined) return { range: quoted, isQuoted: true };
  PLAIN.lastIndex = from;
  const plain = PLAIN.exec(text)?.[0].trimEnd();
  return plain === undefined ? undefined : { range: [from, from + plain.length], isQuoted: false };
}
