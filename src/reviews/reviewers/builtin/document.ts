import type { Kind } from "./rule.ts";

/** A text as the rules look at it. */
export interface Document {
  readonly kind: Kind;
  /** Lower-case, without parameters. */
  readonly mediaType: string;
  readonly text: string;
  readonly lines: readonly Line[];
  /** Where a fenced block begins that has no end. */
  readonly openFence?: Line;
  /** The value, where the document is JSON that can be read. */
  readonly value?: { readonly json: unknown };
}

export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** The heading above it, or the function around it; empty where there is none. */
  readonly place: string;
  /** Inside a fenced block of Markdown, or one of its fences. */
  readonly isFenced: boolean;
  /** Of a Markdown heading, from 1. */
  readonly level?: number;
}

/** Rules look at the beginning of lines that nobody reads to their end, such as minified code. */
const LINE_CHARACTERS = 4_000;
const BLANKS = 100;

export function documentOf(text: string, kind: Kind, mediaType: string): Document {
  const texts = text.split(/\r\n|\r|\n/).map(bounded);
  const read = kind === "markdown" ? markdownLines(texts) : { lines: plainLines(texts, kind === "code") };
  return { kind, mediaType, text, ...read };
}

/** Patterns may take a long run of blanks apart in many ways; a short one in few. Blanks are all that `\s` of a pattern is. */
function bounded(line: string): string {
  if (line.length <= BLANKS) return line;
  let text = "";
  let blanks = 0;
  for (const char of line.slice(0, LINE_CHARACTERS)) {
    blanks = isBlank(char) ? blanks + 1 : 0;
    if (blanks <= BLANKS) text += char;
  }
  return text;
}

function isBlank(char: string): boolean {
  return char.trim() === "";
}

function plainLines(texts: readonly string[], isCode: boolean): Line[] {
  let place = "";
  return texts.map((text, i) => {
    if (isCode) place = functionName(text) ?? place;
    return { number: i + 1, text, place, isFenced: false };
  });
}

function markdownLines(texts: readonly string[]): Pick<Document, "lines" | "openFence"> {
  let place = "";
  let fence: { readonly mark: string; readonly line: Line } | undefined;
  const lines = texts.map((text, i): Line => {
    const number = i + 1;
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(text)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence.mark) && text.trim() === mark) fence = undefined;
      return { number, text, place, isFenced: true };
    }
    if (mark !== undefined) {
      fence = { mark, line: { number, text, place, isFenced: true } };
      return fence.line;
    }
    const heading = headingOf(text);
    if (heading === undefined) return { number, text, place, isFenced: false };
    place = heading.title;
    return { number, text, place, isFenced: false, level: heading.level };
  });
  return fence === undefined ? { lines } : { lines, openFence: fence.line };
}

export function headingOf(line: string): { readonly level: number; readonly title: string } | undefined {
  const marks = /^ {0,3}(#{1,6})(?=\s|$)/.exec(line);
  if (!marks?.[1]) return undefined;
  const title = line
    .slice(marks[0].length)
    .trim()
    .replace(/(^|\s)#+$/, "");
  return { level: marks[1].length, title: title.trim() };
}

const FUNCTION_HEADS = [
  /^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*([\w$]+)/,
  /^\s*(?:export\s+)?(?:const|let|var)\s+([\w$]+)\s*(?::[^=]{1,200})?=\s*(?:async\s*)?(?:function\b|\([^()]{0,500}\)\s*(?::[^=]{1,200})?=>|[\w$]+\s*=>)/,
  /^\s*(?:async\s+)?def\s+(\w+)/,
  /^\s*(?:pub(?:\([^)]{0,50}\))?\s+)?(?:async\s+)?fn\s+(\w+)/,
  /^\s*func\s+(?:\([^)]{0,200}\)\s*)?(\w+)/,
  /^\s*(?:(?:public|private|protected|internal|static|final|override|async|virtual|readonly)\s+)+[\w<>[\],.?\s]{0,100}?\b(\w+)\s*\(/,
  /^\s*(?:async\s+)?([\w$]+)\s*\([^;{}]{0,500}\)\s*(?::[^{;=]{1,200})?\{\s*$/,
];
const NO_NAMES: ReadonlySet<string> = new Set(["if", "for", "while", "switch", "catch", "return", "with", "function"]);

/** The name of the function that a line begins, as far as can be told from the line alone. */
export function functionName(line: string): string | undefined {
  if (!line.includes("(") && !line.includes("=>")) return undefined;
  for (const head of FUNCTION_HEADS) {
    const name = head.exec(line.slice(0, 1000))?.[1];
    if (name !== undefined && !NO_NAMES.has(name)) return name;
  }
  return undefined;
}
