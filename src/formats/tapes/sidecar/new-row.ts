import { readJson } from "../../json/exact-json.ts";
import { type HYPOTHESIS_STATUSES, printRow, type Row, readSidecarLine, type SidecarLine } from "./sidecar.ts";

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

export type HypothesisStatus = (typeof HYPOTHESIS_STATUSES)[number];

/** The member of `metadata` in which a row names the one that it replaces. */
export const SUPERSEDES = "supersedes";

/** How far a hypothesis has come. Steps may be left out; going back, or on from an end, is against the advice. */
const PROGRESS: Readonly<Record<HypothesisStatus, number>> = {
  active: 0,
  verifying: 1,
  confirmed: 2,
  disproven: 2,
  stale: 2,
};

/** The same status again, with new evidence, is no step. */
export function isAdvisedStep(from: HypothesisStatus, to: HypothesisStatus): boolean {
  return from === to || PROGRESS[from] < PROGRESS[to];
}

/** New values of a row; absent ones stay as they were. */
export type Changes = Partial<Omit<RowDraft, "id" | "event_id" | "author" | "timestamp" | "metadata">> &
  Pick<RowDraft, "id" | "author" | "timestamp" | "metadata">;

/**
 * The row that replaces an earlier one, on the same event. The newest row of a chain is what exports and summaries show, so it says
 * everything that still holds and not only what is new.
 */
export function replacing(earlier: Row, changes: Changes): RowDraft {
  const ofOldKind = changes.kind === undefined || changes.kind === earlier.kind;
  return {
    ...earlier,
    // They belong to the kind, so another kind does not take them over.
    hypothesis_status: ofOldKind ? earlier.hypothesis_status : null,
    friction_kind: ofOldKind ? earlier.friction_kind : null,
    ...changes,
    metadata: new Map([...earlier.metadata, ...changes.metadata, [SUPERSEDES, earlier.id]]),
  };
}
