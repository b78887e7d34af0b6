import { type DecidedRow, explainObjection } from "../../formats/tapes/sidecar/decide-row.ts";
import { FRICTION_KINDS, HYPOTHESIS_STATUSES, ROW_KINDS } from "../../formats/tapes/sidecar/sidecar.ts";
import { closestTo } from "../../protocol/closest-to.ts";

/** The two files, and a hint for an event that is not in the tape. */
export interface RowFiles {
  readonly tape: string;
  readonly sidecar: string;
  /** Events next to the requested one; undefined without any. */
  readonly near: string | undefined;
}

/** What a row that is about to be written is refused for, and which flag changes it. */
export function explainRefusal(
  objection: DecidedRow["objections"][number],
  { draft }: DecidedRow,
  { tape, sidecar, near }: RowFiles,
): string {
  switch (objection.code) {
    case "duplicate_id":
      return `${sidecar} has an annotation ${objection.annotation_id} already`;
    case "unknown_event_id":
      return `${tape} has no event ${objection.event_id}${near === undefined ? "" : `; near it are ${near}`}`;
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
      return `${objection.friction_kind} is no kind of friction; ${meant(objection.friction_kind, FRICTION_KINDS)}`;
    case "invalid_span":
      return objection.message;
    case "tape_digest_mismatch":
      return `${sidecar} belongs to another tape: it names the digest ${objection.expected}, and that of ${tape} is ${objection.actual}`;
    default:
      return explainObjection(objection);
  }
}

function meant(given: string, words: readonly string[]): string {
  const close = closestTo(given, words);
  return close === undefined ? `use one of ${words.join(", ")}` : `perhaps you mean ${close}`;
}
