import {
  safeInteger,
  skimObject,
  skimPlainString,
  skimSafeInteger,
  skimString,
  skimValue,
  UNSURE,
} from "../../json/skim-json.ts";
import {
  indexOfBytes,
  listOf,
  oneOf,
  orNull,
  quoted,
  type Skim,
  type SkimTable,
  skimmerOf,
} from "../../json/skim-members.ts";
import {
  AUTHOR_KINDS,
  FRICTION_KINDS,
  HYPOTHESIS_STATUSES,
  ROW_KINDS,
  type Row,
  type RowKind,
} from "../sidecar/sidecar.ts";
import type { JudgedRow } from "./problems.ts";

const nothing = () => {};
const text: Skim<SkimmedRow> = (_, bytes, at) => skimString(bytes, at);

function seq(note: (row: SkimmedRow, seq: number) => void): Skim<SkimmedRow> {
  return (row, bytes, at) => {
    const end = skimSafeInteger(bytes, at);
    if (end !== UNSURE) note(row, safeInteger(bytes, at, end));
    return end;
  };
}

const KINDS = quoted(ROW_KINDS);

const author = skimmerOf<SkimmedRow>(
  { id: orNull(text), kind: [oneOf(AUTHOR_KINDS, nothing)], surface: orNull(text) } satisfies SkimTable<
    SkimmedRow,
    keyof NonNullable<Row["author"]>
  >,
  2,
);

const span = skimmerOf<SkimmedRow>(
  {
    start_event_id: [
      seq((row, start) => {
        row.spanStart = start;
      }),
    ],
    end_event_id: [
      seq((row, end) => {
        row.spanEnd = end;
      }),
    ],
  } satisfies SkimTable<SkimmedRow, keyof NonNullable<Row["span"]>>,
  2,
);

const link = skimmerOf<SkimmedRow>(
  { label: orNull(text), url: orNull(text), reference: orNull(text) } satisfies SkimTable<
    SkimmedRow,
    keyof Row["links"][number]
  >,
  3,
);

/**
 * Walks over the line of a row and notes what can be wrong in it. Whatever this is sure of, the exact reader reads as well, and finds the
 * same; a test compares them. Every member of a row must be here, or it would be skipped as an unknown one.
 */
export const skimRow = skimmerOf<SkimmedRow>(
  {
    type: [oneOf(["annotation"], nothing)],
    id: (row, bytes, at) => {
      const end = skimPlainString(bytes, at);
      row.idStart = at + 1;
      row.idEnd = end - 1;
      return end;
    },
    event_id: [
      seq((row, event) => {
        row.eventId = event;
      }),
    ],
    kind: [
      (row, bytes, at) => {
        const end = skimPlainString(bytes, at);
        if (end !== UNSURE) row.kindIndex = indexOfBytes(KINDS, bytes, at, end);
        return end;
      },
    ],
    evidence: orNull(text),
    suggested_fix: (_, bytes, at) => skimValue(bytes, at, 1),
    author: orNull(author),
    timestamp: orNull(text),
    span: orNull(span),
    hypothesis_status: orNull(
      oneOf(HYPOTHESIS_STATUSES, (row, index) => {
        row.statusIndex = index;
      }),
    ),
    friction_kind: orNull(
      oneOf(FRICTION_KINDS, (row, index) => {
        row.frictionIndex = index;
      }),
    ),
    links: listOf(link),
    metadata: (_, bytes, at) => skimObject(bytes, at, 1),
  } satisfies SkimTable<SkimmedRow, "type" | keyof Row>,
  1,
);

const NONE = -1;
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
