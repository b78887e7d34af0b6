import type { RowDraft } from "../../../formats/tapes/sidecar/new-row.ts";
import { FRICTION_KINDS, HYPOTHESIS_STATUSES, ROW_KINDS } from "../../../formats/tapes/sidecar/sidecar.ts";
import type { Problem } from "../../../formats/tapes/validate/problems.ts";
import { closestTo } from "../../../protocol/closest-to.ts";

/** The two files, and what may help whoever named an event that is not in the tape. */
export interface Files {
  readonly tape: string;
  readonly sidecar: string;
  /** Events next to the one that was asked for, if one was and there are any. */
  readonly near: string | undefined;
}

/** What is wrong with a row that somebody is writing, and what to do about it. */
export function explainRefusal(problem: Problem, draft: RowDraft, { tape, sidecar, near }: Files): string {
  switch (problem.code) {
    case "duplicate_id":
      return `${sidecar} has an annotation ${problem.annotation_id} already`;
    case "unknown_event_id":
      return `${tape} has no event ${problem.event_id}${near === undefined ? "" : `; near it are ${near}`}`;
    case "unknown_kind":
      return `${draft.kind} is no kind of annotation; ${meant(draft.kind, ROW_KINDS)}`;
    case "hypothesis_status_missing":
      return `a hypothesis needs a status: --status ${HYPOTHESIS_STATUSES.join(", ")}`;
    case "hypothesis_status_unexpected":
      return "only a hypothesis has a status; leave out --status, or use --kind hypothesis";
    case "friction_kind_missing":
      return `friction needs its kind: --friction ${FRICTION_KINDS.join(", ")}`;
    case "friction_kind_unexpected":
      return "only friction has a friction kind; leave out --friction, or use --kind friction";
    case "friction_kind_unknown":
      return `${problem.friction_kind} is no kind of friction; ${meant(problem.friction_kind, FRICTION_KINDS)}`;
    case "invalid_span":
      return problem.message;
    case "tape_digest_mismatch":
      return `${sidecar} belongs to another tape: it names the digest ${problem.expected}, and that of ${tape} is ${problem.actual}`;
  }
}

function meant(given: string, words: readonly string[]): string {
  const close = closestTo(given, words);
  return close === undefined ? `use one of ${words.join(", ")}` : `perhaps you mean ${close}`;
}
