import {
  type CheckedRequest,
  type Decision,
  mediaTypeOf,
  type ReviewRequest,
  shown,
  type Warning,
} from "../../formats/reviews/request.ts";
import type { Acknowledgement, ReviewErrorCode } from "../../formats/reviews/response.ts";
import { defined } from "../../protocol/defined.ts";
import { newSession, type ReceivedDecision, type ReviewSession } from "./session.ts";

/** The result of the checks of a request, before any review. */
export type Beginning =
  /** Asked before in the same words: the same answer. */
  | { readonly type: "again"; readonly response: string }
  /** An error; decisions that could be read count all the same, where there are any. */
  | { readonly type: "refused"; readonly answer: ErrorAnswer; readonly session: ReviewSession }
  | { readonly type: "review"; readonly turn: Turn };

export interface ErrorAnswer {
  readonly iteration: number;
  readonly code: ReviewErrorCode;
  readonly message: string;
  readonly acknowledged?: readonly Acknowledgement[];
  readonly warnings: readonly Warning[];
}

/** A turn that is to be reviewed. */
export interface Turn {
  readonly request: ReviewRequest;
  readonly fingerprint: string;
  /** The session before this turn; empty for a new conversation. */
  readonly session: ReviewSession;
  /** Decisions of this request, each with whether its remark is known. */
  readonly decisions: readonly ReceivedDecision[];
  readonly acknowledged?: readonly Acknowledgement[];
  readonly warnings: readonly Warning[];
}

export interface BeginTurn {
  readonly checked: CheckedRequest;
  /** The fingerprint of the request's JSON with sorted names and no blanks. */
  readonly fingerprint: string;
  readonly session: ReviewSession;
  readonly reviews: (mediaType: string) => boolean;
}

export function beginTurn({ checked, fingerprint, session, reviews }: BeginTurn): Beginning {
  if (!checked.ok) return refused(session, checked.iteration ?? session.last + 1, checked.message);
  const { request } = checked;
  const { iteration } = request;
  const { answered, last } = session;
  if (answered !== undefined && iteration === last && answered.fingerprint === fingerprint) {
    return { type: "again", response: answered.response };
  }
  if (session.isFull) return refused(session, iteration, "this session holds as much as it may; begin a new one");
  if (iteration > 1 && iteration <= last) {
    return refused(session, iteration, `turn ${iteration} has been answered already; the next one is ${last + 1}`);
  }
  // A new conversation keeps nothing of the one before it.
  const present = iteration === 1 ? newSession(session.sessionID) : session;
  const decisions = received(request, present);
  const acknowledged = acknowledgements(request, decisions);
  const warnings = atMost([...orderWarnings(iteration, last), ...checked.warnings, ...decisionWarnings(request)]);
  const common = { ...defined({ acknowledged }), warnings };
  if (!reviews(mediaTypeOf(request.artifact.media_type) ?? "")) {
    const message = `artifacts of the type ${shown(mediaTypeOf(request.artifact.media_type) ?? "")} are not reviewed here`;
    const answer = { iteration, code: "UNSUPPORTED_MEDIA_TYPE", message, ...common } as const;
    return { type: "refused", answer, session: withDecisions(session, decisions) };
  }
  return { type: "review", turn: { request, fingerprint, session: present, decisions, ...common } };
}

function refused(session: ReviewSession, iteration: number, message: string): Beginning {
  return { type: "refused", answer: { iteration, code: "INVALID_REQUEST", message, warnings: [] }, session };
}
function received(request: ReviewRequest, { issued }: ReviewSession): ReceivedDecision[] {
  const known = new Set(issued.map(({ id }) => id));
  return (request.applied_feedback?.items ?? []).map((item) => ({
    iteration: request.iteration,
    id: item.id,
    status: item.status,
    known: known.has(item.id),
    ...defined({ reason_code: item.reason_code, explanation: item.explanation }),
  }));
}

function acknowledgements(
  { applied_feedback }: ReviewRequest,
  decisions: readonly ReceivedDecision[],
): Acknowledgement[] | undefined {
  if (applied_feedback === undefined) return undefined;
  return decisions.map(({ id, known }) => ({ id, processing_status: known ? "acknowledged" : "unknown_id" }));
}

/** A turn that is asked for again, because its answer was an error, brings its decisions again: they count once. */
export function withDecisions(session: ReviewSession, decisions: readonly ReceivedDecision[]): ReviewSession {
  const iteration = decisions[0]?.iteration;
  if (iteration === undefined) return session;
  const earlier = session.decisions.filter((one) => one.iteration !== iteration);
  return { ...session, decisions: [...earlier, ...decisions] };
}

const WARNINGS_MAX = 50;

/** A request can give cause for a warning with every few bytes. */
function atMost(warnings: readonly Warning[]): Warning[] {
  const left = warnings.length - WARNINGS_MAX;
  if (left <= 0) return [...warnings];
  return [...warnings.slice(0, WARNINGS_MAX), { code: "more_warnings", message: `${left} more are not listed` }];
}

function orderWarnings(iteration: number, last: number): Warning[] {
  if (iteration <= last + 1) return [];
  if (last > 0) return [{ code: "iteration_gap", message: `turns ${last + 1} to ${iteration - 1} never came` }];
  return [{ code: "first_turn_not_1", message: `the first turn of this session says it is turn ${iteration}` }];
}

function decisionWarnings({ applied_feedback }: ReviewRequest): Warning[] {
  const items = applied_feedback?.items ?? [];
  const bare = items.filter(isBare).map(({ id, status }) => ({
    code: "bare_decision",
    message: `${shown(id)} is ${status} without a reason`,
  }));
  const seen = new Set<string>();
  const repeated = items.filter(({ id }) => seen.size === seen.add(id).size);
  return [
    ...bare,
    ...repeated.map(({ id }) => ({
      code: "duplicate_decision",
      message: `${shown(id)} is decided more than once; the last counts`,
    })),
  ];
}

/** Why something was not done, or not all of it, is worth knowing. */
function isBare({ status, reason_code, explanation }: Decision): boolean {
  if (status === "rejected") return reason_code === undefined && explanation === undefined;
  return status === "partial" && explanation === undefined;
}
