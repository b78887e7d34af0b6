import { readJson } from "../../json/exact-json.ts";
import { printRow, type Row, readSidecarLine, type SidecarLine } from "./sidecar.ts";

/** A row before it is in a file. Any word may be its kind; the reader decides how to read it. */
export type RowDraft = Omit<Row, "kind"> & { readonly kind: string };

export interface NewRow {
  /** The line as it goes into the file, without its end. */
  readonly line: string;
  /** What a reader of the file will find. */
  readonly row: Row;
}

/**
 * Prints a row and reads it back. Throws `Unreadable` when that fails: half surrogate pairs, values that are nested too deep inside
 * the row. A file with such a line could not be read any more.
 */
export function newRow(draft: RowDraft): NewRow {
  const line = printRow(draft as Row);
  const read = readSidecarLine(readJson(line)) as SidecarLine & { readonly type: "annotation" };
  return { line, row: read.row };
}

const LF = 0x0a;
const CR = 0x0d;

/** Watches the bytes of a file go by, and knows in the end how a line is added to it. */
export class FileEnd {
  #bytes = 0;
  #last = -1;
  #lineEnd = "\n";

  take(piece: Uint8Array): void {
    const at = piece.lastIndexOf(LF);
    if (at >= 0) this.#lineEnd = (at === 0 ? this.#last : piece[at - 1]) === CR ? "\r\n" : "\n";
    this.#last = piece.at(-1) ?? this.#last;
    this.#bytes += piece.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** What is to be written at the end of the file: nothing that is there changes, and lines end as the last one did. */
  withLine(line: string): string {
    const isOpen = this.#bytes > 0 && this.#last !== LF;
    return `${isOpen ? this.#lineEnd : ""}${line}${this.#lineEnd}`;
  }
}

/** A readable id that no row has: `ann_`, the event, and a number. */
export function freeId(eventId: bigint, isTaken: (id: string) => boolean): string {
  for (let n = 1; ; n++) {
    const id = `ann_${eventId}_${n}`;
    if (!isTaken(id)) return id;
  }
}
