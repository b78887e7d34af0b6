import type { Problem } from "../sidecar/problem.ts";
import { isFrictionKind, nameOfRow, type Row } from "../sidecar/sidecar.ts";

/** The members of a row that can be invalid. */
export type JudgedRow = Pick<Row, "id" | "event_id" | "kind" | "span" | "hypothesis_status" | "friction_kind">;

export interface KnownEvents {
  has(seq: bigint): boolean;
  /** The greatest, or `null` when there is none. */
  readonly last: bigint | null;
}

/** All problems of one row, in the order of reports. */
export function* problemsOfRow(row: JudgedRow, isRepeated: boolean, events: KnownEvents): Generator<Problem> {
  const annotation_id = nameOfRow(row);
  if (isRepeated) yield { code: "duplicate_id", annotation_id };
  if (!events.has(row.event_id)) yield { code: "unknown_event_id", annotation_id, event_id: row.event_id };
  yield* problemsOfKind(row, annotation_id);
  yield* problemsOfSpan(row, annotation_id, events.last);
}

function* problemsOfKind(row: JudgedRow, annotation_id: string): Generator<Problem> {
  const { kind, hypothesis_status, friction_kind } = row;
  // Members of an unknown kind are not checked.
  if (kind === "unknown") {
    yield { code: "unknown_kind", annotation_id };
    return;
  }
  if (kind === "hypothesis") {
    if (hypothesis_status === null) yield { code: "hypothesis_status_missing", annotation_id };
  } else if (hypothesis_status !== null) {
    yield { code: "hypothesis_status_unexpected", annotation_id };
  }
  if (kind !== "friction") {
    if (friction_kind !== null) yield { code: "friction_kind_unexpected", annotation_id };
  } else if (friction_kind === null) {
    yield { code: "friction_kind_missing", annotation_id };
  } else if (!isFrictionKind(friction_kind)) {
    yield { code: "friction_kind_unknown", annotation_id, friction_kind };
  }
}

/** That the end of a span names an event is not asked for: tapes have gaps. */
function* problemsOfSpan(
  { span, event_id }: JudgedRow,
  annotation_id: string,
  last: bigint | null,
): Generator<Problem> {
  if (span === null) return;
  const { start_event_id: start, end_event_id: end } = span;
  const invalid = (message: string): Problem => ({ code: "invalid_span", annotation_id, message });
  if (start !== event_id) yield invalid(`span.start_event_id (${start}) must equal event_id (${event_id})`);
  if (end < start) yield invalid(`span.end_event_id (${end}) is before start_event_id (${start})`);
  if (last !== null && end > last) {
    yield invalid(`span.end_event_id (${end}) is past the last tape event (seq=${last})`);
  }
}
