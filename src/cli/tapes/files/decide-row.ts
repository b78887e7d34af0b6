import { Unreadable } from "../../../formats/json/exact-json.ts";
import {
  freeId,
  isAdvisedStep,
  type NewRow,
  newRow,
  type RowDraft,
  replacing,
} from "../../../formats/tapes/sidecar/new-row.ts";
import type { TapeFacts } from "../../../formats/tapes/tape-facts.ts";
import { problemsOfRow } from "../../../formats/tapes/validate/problems.ts";
import { AppError } from "../../../protocol/errors.ts";
import { printable } from "../../output/printable.ts";
import { explainRefusal, type Files } from "../text/explain-refusal.ts";
import type { RowRequest } from "./row-request.ts";
import type { EarlierRow, SidecarState } from "./sidecar-state.ts";

export interface Objection {
  readonly code: string;
  readonly text: string;
}

export interface DecidedRow extends NewRow {
  /** What speaks against it. Only whoever insists gets it written then. */
  readonly objections: readonly Objection[];
}

/** The row that was asked for. Throws where no row could be made, or none that can be read back. */
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
        ...said(request, eventId),
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
  // They repeat what others wrote into the file.
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

/** Only what the request says, so that the rest can be taken over from another row. */
function said(request: RowRequest, eventId: bigint): Partial<Omit<RowDraft, "metadata">> {
  const { kind, evidence, fix, span, status, friction, links } = request;
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(evidence === undefined ? {} : { evidence }),
    ...(fix === undefined ? {} : { suggested_fix: fix }),
    ...(span === undefined ? {} : { span: { start_event_id: span.start ?? eventId, end_event_id: span.end } }),
    ...(status === undefined ? {} : { hypothesis_status: status }),
    ...(friction === undefined ? {} : { friction_kind: friction }),
    ...(links.length === 0 ? {} : { links }),
  };
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
    ...said(request, eventId),
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
    if (error instanceof Unreadable) return refuse(`nobody could read the annotation: ${error.message}`);
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
  throw new AppError("unusable_input", { problem });
}
