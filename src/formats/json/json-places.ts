import { endOfString } from "./check-json.ts";
export interface TextPlace {
  /** Both count from 1; a column is a UTF-16 unit. */
  readonly line: number;
  readonly column: number;
}

/**
 * The places of the values under these pointers in a JSON text, found in one pass: a member is placed at its name, and of members with one
 * name the last counts, which parsing keeps. Absent values are left out. The text must be JSON, and not nested deeper than recursion
 * allows.
 */
export function placesIn(text: string, pointers: Iterable<string>): Map<string, TextPlace> {
  const root: Wanted = { children: new Map() };
  for (const pointer of pointers) want(root, pointer);
  const offsets = new Map<string, number>();
  walk(text, afterSpace(text, 0), root, (pointer, offset) => offsets.set(pointer, offset));
  if (root.pointer !== undefined) offsets.set(root.pointer, afterSpace(text, 0));
  return linesAndColumns(text, offsets);
}

/** A tree of the wanted pointers: all other values are skipped. */
interface Wanted {
  pointer?: string;
  readonly children: Map<string, Wanted>;
}

function want(root: Wanted, pointer: string): void {
  let at = root;
  for (const step of pointer.split("/").slice(1)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    const child = at.children.get(name) ?? { children: new Map() };
    at.children.set(name, child);
    at = child;
  }
  at.pointer = pointer;
}

type Found = (pointer: string, offset: number) => void;

/** Returns the offset after the value. */
function walk(text: string, from: number, wanted: Wanted, found: Found): number {
  const open = text[from];
  if ((open !== "{" && open !== "[") || wanted.children.size === 0) return afterValue(text, from);
  let at = afterSpace(text, from + 1);
  for (let i = 0; text[at] !== "}" && text[at] !== "]" && at < text.length; i++) {
    const start = at;
    let name = String(i);
    if (open === "{") {
      const end = afterString(text, at);
      name = JSON.parse(text.slice(at, end)) as string;
      at = afterSpace(text, afterSpace(text, end) + 1);
    }
    const child = wanted.children.get(name);
    if (child?.pointer !== undefined) found(child.pointer, start);
    at = afterSpace(text, child === undefined ? afterValue(text, at) : walk(text, at, child, found));
    if (text[at] === ",") at = afterSpace(text, at + 1);
  }
  return at + 1;
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /[^\s,\]}]+/y;
const NEXT_MARK = /["[\]{}]/g;

/** Without recursion, and without parsing the content. */
function afterValue(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return afterString(text, from);
  if (first !== "{" && first !== "[") return afterMatch(SCALAR, text, from);
  let depth = 0;
  let at = from;
  for (;;) {
    NEXT_MARK.lastIndex = at;
    const mark = NEXT_MARK.exec(text);
    if (mark === null) return text.length;
    at = mark.index;
    if (mark[0] === '"') at = afterString(text, at);
    else {
      depth += mark[0] === "{" || mark[0] === "[" ? 1 : -1;
      at++;
      if (depth === 0) return at;
    }
  }
}

function afterString(text: string, from: number): number {
  return Math.min(endOfString(text, from) + 1, text.length);
}

function afterSpace(text: string, at: number): number {
  return afterMatch(SPACE, text, at);
}

function afterMatch(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function linesAndColumns(text: string, offsets: ReadonlyMap<string, number>): Map<string, TextPlace> {
  const places = new Map<string, TextPlace>();
  let line = 1;
  let lineStart = 0;
  for (const [pointer, offset] of [...offsets].sort(([, a], [, b]) => a - b)) {
    for (let end = text.indexOf("\n", lineStart); end >= 0 && end < offset; end = text.indexOf("\n", lineStart)) {
      line++;
      lineStart = end + 1;
    }
    places.set(pointer, { line, column: offset - lineStart + 1 });
  }
  return places;
}

/** The place of one offset, such as a parser names it. */
export function placeAt(text: string, offset: number): TextPlace {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}

/** The place after the brace that closes the object at `start`; undefined without one. Braces in strings do not count. */
export function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let i = start; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (inString) {
      if (unit === 0x5c) i++;
      else if (unit === 0x22) inString = false;
    } else if (unit === 0x22) inString = true;
    else if (unit === 0x7b) depth++;
    else if (unit === 0x7d) {
      depth--;
      if (depth === 0) return i + 1;
    }
  }
  return undefined;
}
