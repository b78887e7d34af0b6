import type { FileLine } from "./file-lines.ts";
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
