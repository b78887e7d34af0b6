import { createHash } from "node:crypto";
import { findText } from "../../formats/text/find-text.ts";

/** A passage of an artifact: the whole lines that hold what was quoted, or all of it. */
export interface Place {
  /** Its first line with single blanks, or the quoted part of a very long one; empty for the whole artifact. */
  readonly line: string;
  /** Stands for the passage: the number of its lines and their hash. */
  readonly part: string;
}

/** An artifact that is searched for passages. */
export class ArtifactText {
  readonly #lines: readonly string[];
  /** The text with single blanks, so that a passage is found without its line breaks or indentation. */
  readonly #joined: string;
  /** The position of each line in `#joined`. */
  readonly #begins: readonly number[];

  constructor(text: string) {
    this.#lines = text.split("\n").map((line) => blanksJoined(line));
    const begins: number[] = [];
    let length = 0;
    for (const line of this.#lines) {
      begins.push(length);
      if (line !== "") length += line.length + 1;
    }
    this.#begins = begins;
    this.#joined = this.#lines.filter((line) => line !== "").join(" ");
  }

  /** An empty quote is the whole artifact; undefined for a quote that does not occur. */
  find(quote: string): Place | undefined {
    const wanted = blanksJoined(quote);
    if (wanted === "") return { line: "", part: partOf(this.#lines) };
    const at = findText(this.#joined, wanted);
    if (at < 0) return undefined;
    const first = this.#lineAt(at);
    const last = this.#lineAt(at + wanted.length - 1);
    const line = this.#lines[first] ?? "";
    // Where the whole artifact is one line, the quoted part is used.
    return { line: line.length <= LINE_MAX ? line : wanted, part: partOf(this.#lines.slice(first, last + 1)) };
  }

  /** Whether a passage of an earlier text occurs in this one too. */
  holds(part: string): boolean {
    const count = Number(/^(\d+):/.exec(part)?.[1] ?? Number.NaN);
    if (!(count >= 1 && count <= this.#lines.length)) return false;
    for (let i = 0; i + count <= this.#lines.length; i++) {
      if (partOf(this.#lines.slice(i, i + count)) === part) return true;
      // A long passage compared at every line would be work without bound.
      if (count > WINDOW_LINES_MAX) return false;
    }
    return false;
  }

  #lineAt(offset: number): number {
    let low = 0;
    let high = this.#begins.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#begins[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

const WINDOW_LINES_MAX = 60;
const LINE_MAX = 200;

/** Stable for a matter of the same aspect in the same line, wherever the line moves. */
export function idFor(aspect: string, { line }: Place): string {
  const slug = aspect
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  return `${slug === "" ? "remark" : slug}.${hash(`${slug}\n${line}`).slice(0, 12)}`;
}

function partOf(lines: readonly string[]): string {
  return `${lines.length}:${hash(lines.join("\n")).slice(0, 32)}`;
}

function blanksJoined(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
