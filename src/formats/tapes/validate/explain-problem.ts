import type { Problem, ProblemCode } from "../sidecar/problem.ts";
import { FRICTION_KINDS, HYPOTHESIS_STATUSES, ROW_KINDS } from "../sidecar/sidecar.ts";

/** An explanation of each problem code. */
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
