import { safeInteger, skimObject, skimSafeInteger, skimValue } from "../../json/skim-json.ts";
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
import { skimPlainString, skimString, UNSURE } from "../../json/skim-string.ts";
import { AUTHOR_KINDS, FRICTION_KINDS, HYPOTHESIS_STATUSES, ROW_KINDS, type Row } from "./sidecar.ts";
import type { SkimmedRow } from "./skimmed-row.ts";

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
