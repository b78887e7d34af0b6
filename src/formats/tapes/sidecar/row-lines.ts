import type { AnnotationState } from "../../../protocol/judgments/annotation.ts";
import { addTo } from "../../text/collections.ts";
import { SidecarReader } from "./read-sidecar.ts";
import type { Row, SidecarHeader } from "./sidecar.ts";

/** A row with the line it stands on. */
export interface RowLine {
  /** The physical line, from 1. */
  readonly line: number;
  /** All of it but its end. */
  readonly text: string;
  readonly row: Row;
  readonly key: string;
}

export interface RowLines {
  readonly header: SidecarHeader;
  readonly rows: readonly RowLine[];
}

/** Throws `FileError` for what is no sidecar. */
export function readRowLines(path: string, lines: readonly FileLine[]): RowLines {
  const reader = new RowLineReader(path);
  for (const line of lines) reader.take(line);
  return reader.end();
}

/** The same line by line, so that callers can do other work in between. */
export class RowLineReader {
  readonly #rows: RowLine[] = [];
  readonly #reader: SidecarReader;
  #text = "";

  constructor(path: string) {
    this.#reader = new SidecarReader(path, (row, line) => {
      const text = this.#text;
      this.#rows.push({ line, text, row, key: rowKey(row.id, text) });
    });
  }

  take({ text }: FileLine): void {
    this.#text = text;
    this.#reader.line(text);
  }

  end(): RowLines {
    this.#reader.end();
    return { header: this.#reader.header, rows: this.#rows };
  }
}

/** What makes two rows the same one, whatever else they say: their id. Without one a row is only the same as itself, word for word. */
export function rowKey(id: string, text: string): string {
  return id === "" ? `line ${text}` : `id ${id}`;
}

/** A line of a file as it is there: what it says, and what ends it. */
export interface FileLine {
  readonly text: string;
  /** LF or CR LF; where the file ends without them, nothing or a CR that would be part of one. */
  readonly end: string;
}

/** Cut as readers cut it: at LF, with one CR directly before it. Put together again they are the text. */
export function fileLines(text: string): FileLine[] {
  const lines: FileLine[] = [];
  let start = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", start)) {
    lines.push(lineOf(text.slice(start, at), "\n"));
    start = at + 1;
  }
  if (start < text.length) lines.push(lineOf(text.slice(start), ""));
  return lines;
}

function lineOf(text: string, end: string): FileLine {
  return text.endsWith("\r") ? { text: text.slice(0, -1), end: `\r${end}` } : { text, end };
}

/** A line that had no end gets one when others come after it. */
export function fileText(lines: readonly FileLine[]): string {
  const usual = usualEnd(lines);
  const last = lines.length - 1;
  return lines.map(({ text, end }, i) => text + (isWhole(end) || i === last ? end : usual)).join("");
}

/** How lines that are added to a file end: as the last one that has an end. */
export function usualEnd(lines: readonly FileLine[]): string {
  return lines.findLast(({ end }) => isWhole(end))?.end ?? "\n";
}

function isWhole(end: string): boolean {
  return end.endsWith("\n");
}

/** A row that is known from before: as it was last written, and what became of it. */
export interface KnownRow {
  readonly key: string;
  readonly text: string;
  readonly state: AnnotationState;
}

/** What still counts comes first, so that a row that was taken back never stands in for one that was not. */
const ORDER: Readonly<Record<AnnotationState, number>> = { live: 0, superseded: 1, retracted: 2 };

export function stillCountingFirst<K extends Pick<KnownRow, "state">>(known: readonly K[]): readonly K[] {
  return [...known].sort((a, b) => ORDER[a.state] - ORDER[b.state]);
}

/**
 * Which rows of a file are which known ones. Nothing keeps a file from having the same id, or the same line, twice: among rows of one
 * key those that say the same belong together, and then the others in their order.
 */
export function pairRows<R extends Pick<KnownRow, "key" | "text">, K extends KnownRow>(
  rows: readonly R[],
  known: readonly K[],
): Map<R, K> {
  const pairs = new Map<R, K>();
  const inOrder = stillCountingFirst(known);
  const whole = ({ key, text }: Pick<KnownRow, "key" | "text">) => `${key}\n${text}`;
  pairBy({ rows, of: whole }, { known: inOrder, of: whole }, pairs);
  pairBy({ rows, of: ({ key }) => key }, { known: inOrder, of: ({ key }) => key }, pairs);
  return pairs;
}

/**
 * Adds pairs of one name among those that have none yet, in the order of both; a file of nothing but one id takes no longer than any
 * other. An empty name is none.
 */
export function pairBy<R, K>(
  { rows, of: nameOf }: { readonly rows: readonly R[]; of(row: R): string },
  { known, of: nameOfKnown }: { readonly known: readonly K[]; of(known: K): string },
  pairs: Map<R, K>,
): void {
  const taken = new Set(pairs.values());
  const free = new Map<string, K[]>();
  for (const one of known) if (!taken.has(one)) addTo(free, nameOfKnown(one), one);
  const used = new Map<string, number>();
  for (const row of rows) {
    if (pairs.has(row)) continue;
    const called = nameOf(row);
    const at = used.get(called) ?? 0;
    const found = called === "" ? undefined : free.get(called)?.[at];
    if (found === undefined) continue;
    pairs.set(row, found);
    used.set(called, at + 1);
  }
}
