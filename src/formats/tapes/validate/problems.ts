import {
  FRICTION_KINDS,
  HYPOTHESIS_STATUSES,
  isFrictionKind,
  nameOfRow,
  ROW_KINDS,
  type Row,
} from "../sidecar/sidecar.ts";

/** What can be wrong with a sidecar that loads. Codes are wire format: they are added, never renamed. */
export const PROBLEM_CODES = [
  "duplicate_id",
  "unknown_event_id",
  "hypothesis_status_missing",
  "hypothesis_status_unexpected",
  "friction_kind_missing",
  "friction_kind_unexpected",
  "friction_kind_unknown",
  "invalid_span",
  "unknown_kind",
  "tape_digest_mismatch",
] as const;
export type ProblemCode = (typeof PROBLEM_CODES)[number];

type Named<C extends ProblemCode, More = unknown> = {
  readonly code: C;
  readonly annotation_id: string;
} & Readonly<More>;

/** Names and order of the members are those of the report. */
export type Problem =
  | Named<"unknown_event_id", { event_id: bigint }>
  | Named<"friction_kind_unknown", { friction_kind: string }>
  | Named<"invalid_span", { message: string }>
  | Named<
      | "duplicate_id"
      | "hypothesis_status_missing"
      | "hypothesis_status_unexpected"
      | "friction_kind_missing"
      | "friction_kind_unexpected"
      | "unknown_kind"
    >
  | { readonly code: "tape_digest_mismatch"; readonly expected: string; readonly actual: string };

/** A problem and the physical line that has it, counted from 1. */
export interface Finding {
  readonly problem: Problem;
  readonly line: number;
}

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

export const PROBLEM_SUMMARIES: Readonly<Record<ProblemCode, string>> = {
  duplicate_id: "An id is used by more than one annotation.",
  unknown_event_id: "An annotation is about an event that is not in the tape.",
  hypothesis_status_missing: "A hypothesis has no hypothesis_status.",
  hypothesis_status_unexpected: "An annotation that is no hypothesis has a hypothesis_status.",
  friction_kind_missing: "A friction annotation has no friction_kind.",
  friction_kind_unexpected: "An annotation that is no friction has a friction_kind.",
  friction_kind_unknown: "The friction_kind is none of the known ones.",
  invalid_span: "The span does not fit the annotation or the tape.",
  unknown_kind: "The kind is none of the known ones.",
  tape_digest_mismatch: "The sidecar was written for another content of the tape.",
};

/** The facts of this problem, and the remedy. */
export function explainProblem(problem: Problem): string {
  if (problem.code === "tape_digest_mismatch") {
    return (
      `the header says that the tape has the digest ${problem.expected}, but it has ${problem.actual}; check the events ` +
      "that the annotations are about, then write the new digest into tape_content_hash"
    );
  }
  return `${problem.annotation_id}: ${explainRow(problem)}`;
}

function explainRow(problem: Exclude<Problem, { code: "tape_digest_mismatch" }>): string {
  switch (problem.code) {
    case "duplicate_id":
      return "this id is taken by an earlier line; give the annotation an id of its own";
    case "unknown_event_id":
      return `the tape has no event ${problem.event_id}; set event_id to the seq of a record`;
    case "hypothesis_status_missing":
      return `a hypothesis needs a hypothesis_status (${HYPOTHESIS_STATUSES.join(", ")})`;
    case "hypothesis_status_unexpected":
      return "only a hypothesis has a hypothesis_status; remove it or change the kind";
    case "friction_kind_missing":
      return `a friction annotation needs a friction_kind (${FRICTION_KINDS.join(", ")})`;
    case "friction_kind_unexpected":
      return "only a friction annotation has a friction_kind; remove it or change the kind";
    case "friction_kind_unknown":
      return `there is no friction_kind ${JSON.stringify(problem.friction_kind)}; use one of ${FRICTION_KINDS.join(", ")}`;
    case "invalid_span":
      return `${problem.message}; a span begins at its annotation's event and ends there or later, within the tape`;
    case "unknown_kind":
      return `this kind is not known; use one of ${ROW_KINDS.join(", ")}`;
  }
}
