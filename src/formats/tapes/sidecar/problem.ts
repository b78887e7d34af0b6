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
