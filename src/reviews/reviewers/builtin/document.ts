import { mediaTypeOfFile } from "../../../formats/reviews/media-types.ts";
import { mediaTypeOf, type ReviewRequest } from "../../../formats/reviews/request.ts";
import { readDiff } from "./diff.ts";
import { type Markdown, readMarkdown } from "./markdown.ts";
import { isDiff, type Kind, kindOf } from "./rule.ts";

/** A text, or what a diff shows of the new side of one file. */
export interface Document {
  readonly kind: Kind;
  /** Lower-case, without parameters. */
  readonly mediaType: string;
  /** The path, in a diff. */
  readonly file?: string;
  readonly text: string;
  readonly lines: readonly Line[];
  /** False where lines are not known: those between the hunks of a diff, and those beyond the bound. */
  readonly isWhole: boolean;
  /** Set for a whole document of Markdown. */
  readonly markdown?: Markdown;
}

export interface Line {
  /** From 1, in its file; 0 where the artifact is a value and has no lines. */
  readonly number: number;
  readonly text: string;
  /** Whether the line is under review: every line of a text, the added lines of a diff. */
  readonly isNew: boolean;
  /** The heading above it; empty where there is none. */
  readonly place: string;
}

export interface ReadArtifact {
  readonly documents: readonly Document[];
  readonly readAs: string;
  readonly isWhole: boolean;
}

/** The rules read so many characters of an artifact, which bounds their time and memory; the syntax of JSON is checked in all of it. */
export const CHARACTERS_MAX = 1_000_000;

export function readArtifact({ media_type, content }: ReviewRequest["artifact"]): ReadArtifact {
  const mediaType = mediaTypeOf(media_type) ?? "";
  if (typeof content !== "string") return readValue(content, mediaType);
  const isWhole = content.length <= CHARACTERS_MAX;
  const read = isWhole ? content : content.slice(0, CHARACTERS_MAX);
  if (isDiff(mediaType, read)) {
    const files = readDiff(read);
    const documents = files.map(({ path, isAdded, lines }) => {
      const type = mediaTypeOfFile(path);
      const text = lines.map((line) => line.text).join("\n");
      const shown = lines.map((line): Line => ({ ...line, text: bounded(line.text), place: "" }));
      const kind = kindOf(type);
      return completed({ kind, mediaType: type, file: path, text, lines: shown, isWhole: isWhole && isAdded });
    });
    // A text that shows no hunk is read as what else it may be.
    if (files.length > 0) return { documents, readAs: `a diff of ${counted(files.length, "file")}`, isWhole };
  }
  const kind = kindOf(mediaType);
  const lines = linesOf(read, kind).map((text, i): Line => ({ number: i + 1, text, isNew: true, place: "" }));
  const document = completed({ kind, mediaType, text: content, lines, isWhole: isWhole || kind === "json" });
  return { documents: [document], readAs: `${kind} because of its type, ${mediaType}`, isWhole };
}

/** A value other than a text is JSON, whatever its type is: one line for each of its members. */
function readValue(content: unknown, mediaType: string): ReadArtifact {
  const lines: Line[] = [];
  let left = CHARACTERS_MAX;
  JSON.stringify(content, (name, value) => {
    const isInside = typeof value === "object" && value !== null;
    const text = bounded(`${name}: ${isInside ? "" : value}`);
    left -= text.length;
    if (left > 0) lines.push({ number: 0, text, isNew: true, place: "" });
    return isInside ? value : undefined;
  });
  const document: Document = { kind: "json", mediaType, text: "", lines, isWhole: false };
  return { documents: [document], readAs: "a JSON value", isWhole: left > 0 };
}

/** Adds the outline of a whole document of Markdown, and the places of its lines in it. */
function completed(document: Document): Document {
  if (document.kind !== "markdown" || !document.isWhole) return document;
  const markdown = readMarkdown(document.text);
  const titles = new Map(markdown.headings.map(({ line, title }) => [line, title]));
  let place = "";
  const lines = document.lines.map((line) => {
    place = titles.get(line.number) ?? place;
    return { ...line, place };
  });
  return { ...document, lines, markdown };
}

/** Line breaks within the strings of JSON count as blanks, so that a word after one is not joined to its `n`. */
function linesOf(text: string, kind: Kind): string[] {
  return (kind === "json" ? text.replace(/\\[nrt]/g, "  ") : text).split(/\r\n|\r|\n/).map(bounded);
}

/** Rules see only the beginning of very long lines, such as minified code. */
const LINE_CHARACTERS = 4_000;
const BLANKS = 100;

/** Patterns may take a long run of blanks apart in many ways; a short one in few. Blanks are all that `\s` of a pattern is. */
export function bounded(line: string): string {
  if (line.length <= BLANKS) return line;
  let text = "";
  let blanks = 0;
  for (const char of line.slice(0, LINE_CHARACTERS)) {
    blanks = char.trim() === "" ? blanks + 1 : 0;
    if (blanks <= BLANKS) text += char;
  }
  return text;
}

export function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}
