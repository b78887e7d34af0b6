import { Unreadable } from "../../formats/json/exact-json.ts";
import {
  freeId,
  isAdvisedStep,
  type NewRow,
  newRow,
  type RowDraft,
  replacing,
} from "../../formats/tapes/sidecar/new-row.ts";
import { FRICTION_KINDS, HYPOTHESIS_STATUSES, ROW_KINDS } from "../../formats/tapes/sidecar/sidecar.ts";
import type { TapeFacts } from "../../formats/tapes/tape-facts.ts";
import { type Problem, problemsOfRow } from "../../formats/tapes/validate/problems.ts";
import { closestTo } from "../../protocol/closest-to.ts";
import { defined } from "../../protocol/defined.ts";
import { unusableInput } from "../../protocol/errors.ts";
import { printable } from "../output/printable.ts";
import type { EarlierRow, SidecarState } from "./files/sidecar-state.ts";
import type { RowRequest } from "./row-request.ts";

interface Objection {
  readonly code: string;
  readonly text: string;
}

export interface DecidedRow extends NewRow {
  /** Reasons to refuse the row; with --force it is written nevertheless. */
  readonly objections: readonly Objection[];
}

/** The requested row. Throws `unusable_input` where there is no such row to replace, or the row could not be read back. */
export function decideRow(
  request: RowRequest,
  state: SidecarState,
  tape: TapeFacts,
  files: Files,
  timestamp: string,
): DecidedRow {
  const earlier = request.supersedes === undefined ? undefined : earlierRow(request.supersedes, state, files);
  const eventId = earlier?.row.event_id ?? eventOf(request, tape, files);
  const id = request.id ?? freeId(eventId, (one) => state.ids.has(one));
  const draft = earlier
    ? replacing(earlier.row, {
        ...givenMembers(request, eventId),
        id,
        timestamp,
        author: request.author,
        metadata: request.metadata,
      })
    : draftOf(request, eventId, id, timestamp);
  const made = readable(draft);
  const problems = [...problemsOfRow(made.row, state.ids.has(id), tape.seqs), ...headerProblems(state, tape)];
  const objections = [
    ...problems.map((problem) => ({ code: problem.code, text: explainRefusal(problem, draft, files) })),
    ...(earlier ? objectionsToReplacing(earlier, draft) : []),
  ];
  // Printable, because objections quote texts of the file.
  return { ...made, objections: objections.map(({ code, text }) => ({ code, text: printable(text) })) };
}

function earlierRow(id: string, { earlier, elsewhere }: SidecarState, { sidecar }: Files): EarlierRow {
  if (earlier !== undefined) return earlier;
  const [event] = elsewhere;
  if (event === undefined) return refuse(`there is no annotation ${id} in ${sidecar}`);
  return refuse(
    `${id} is about event ${event}, and only an annotation of the same event replaces it; leave out --event`,
  );
}

function eventOf({ event }: RowRequest, { seqs }: TapeFacts, { tape }: Files): bigint {
  if (event !== "last") return event as bigint;
  return seqs.last ?? refuse(`${tape} has no events`);
}

/** The members that the request gives; a replacement takes the others from the earlier row. */
function givenMembers(request: RowRequest, eventId: bigint): Partial<Omit<RowDraft, "metadata">> {
  const { kind, evidence, fix, span, status, friction, links } = request;
  return defined({
    kind,
    evidence,
    suggested_fix: fix,
    span: span && { start_event_id: span.start ?? eventId, end_event_id: span.end },
    hypothesis_status: status,
    friction_kind: friction,
    links: links.length === 0 ? undefined : links,
  });
}

function draftOf(request: RowRequest, eventId: bigint, id: string, timestamp: string): RowDraft {
  return {
    kind: "",
    evidence: null,
    suggested_fix: null,
    span: null,
    hypothesis_status: null,
    friction_kind: null,
    links: [],
    ...givenMembers(request, eventId),
    id,
    event_id: eventId,
    author: request.author,
    timestamp,
    metadata: request.metadata,
  };
}

function readable(draft: RowDraft): NewRow {
  try {
    return newRow(draft);
  } catch (error) {
    if (error instanceof Unreadable) return refuse(`the annotation could not be read back: ${error.message}`);
    throw error;
  }
}

function* headerProblems({ header }: SidecarState, { digest: actual }: TapeFacts) {
  const expected = header?.tape_content_hash ?? null;
  if (expected !== null && expected !== actual) yield { code: "tape_digest_mismatch", expected, actual } as const;
}

function* objectionsToReplacing({ row, newest }: EarlierRow, draft: RowDraft): Generator<Objection> {
  if (newest.length > 0) {
    yield {
      code: "already_superseded",
      text: `${row.id} has been replaced already; the newest is ${newest.join(", ")}`,
    };
  }
  const [from, to] = [row.hypothesis_status, draft.hypothesis_status];
  if (from !== null && to !== null && !isAdvisedStep(from, to)) {
    const why =
      from === "verifying" ? `and does not go back to ${to}` : `which ends a hypothesis; it does not become ${to}`;
    yield { code: "status_step_unusual", text: `${row.id} is ${from}, ${why}` };
  }
}

function refuse(problem: string): never {
  throw unusableInput(problem);
}

/** The two files, and a hint for an event that is not in the tape. */
export interface Files {
  readonly tape: string;
  readonly sidecar: string;
  /** Events next to the requested one; undefined without any. */
  readonly near: string | undefined;
}

/** The problem of a row that is about to be written, and what to do about it. */
function explainRefusal(problem: Problem, draft: RowDraft, { tape, sidecar, near }: Files): string {
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
