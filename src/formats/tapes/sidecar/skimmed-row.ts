import type { JudgedRow } from "../validate/validate-row.ts";
import { FRICTION_KINDS, HYPOTHESIS_STATUSES, ROW_KINDS, type RowKind } from "./sidecar.ts";

export const NONE = -1;
const HYPOTHESIS = ROW_KINDS.indexOf("hypothesis");
const FRICTION = ROW_KINDS.indexOf("friction");

/** A byte-order mark is part of an id like any other character. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * What can be wrong in a row, as places in its bytes and small numbers. One object serves all rows of a file, so that a row leaves
 * nothing behind.
 */
export class SkimmedRow {
  bytes: Uint8Array = new Uint8Array();
  idStart = 0;
  idEnd = 0;
  eventId = 0;
  /** Places in the lists of words; `NONE` for an absent word or an unknown kind. */
  kindIndex = NONE;
  statusIndex = NONE;
  frictionIndex = NONE;
  /** Both `NONE` without a span. */
  spanStart = NONE;
  spanEnd = NONE;

  clear(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.idStart = 0;
    this.idEnd = 0;
    this.eventId = 0;
    this.kindIndex = NONE;
    this.statusIndex = NONE;
    this.frictionIndex = NONE;
    this.spanStart = NONE;
    this.spanEnd = NONE;
  }

  get kind(): RowKind {
    return ROW_KINDS[this.kindIndex] ?? "unknown";
  }

  /** Nothing is wrong with it that can be seen without the tape and the other rows. */
  get isFine(): boolean {
    return (
      this.kindIndex !== NONE &&
      (this.statusIndex !== NONE) === (this.kindIndex === HYPOTHESIS) &&
      (this.frictionIndex !== NONE) === (this.kindIndex === FRICTION) &&
      (this.spanEnd === NONE || (this.spanStart === this.eventId && this.spanEnd >= this.spanStart))
    );
  }

  read(): JudgedRow {
    return {
      id: decoder.decode(this.bytes.subarray(this.idStart, this.idEnd)),
      event_id: BigInt(this.eventId),
      kind: this.kind,
      hypothesis_status: HYPOTHESIS_STATUSES[this.statusIndex] ?? null,
      friction_kind: FRICTION_KINDS[this.frictionIndex] ?? null,
      span:
        this.spanEnd === NONE ? null : { start_event_id: BigInt(this.spanStart), end_event_id: BigInt(this.spanEnd) },
    };
  }
}
