import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type CheckedRequest, readRequest } from "../../formats/reviews/request.ts";
import { REMARK_ID } from "../../formats/reviews/response.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import { DEFAULT_AGENT, type Reviewer } from "../reviewer.ts";
import { beginTurn, type Turn, withDecisions } from "./begin-turn.ts";
import { errorResponse, finishTurn, type Review } from "./finish-turn.ts";
import { fingerprintOf, type Kept, type ReviewSession, type SessionBackend } from "./session.ts";

export interface TurnAsked {
  /** The request as it came. */
  readonly bytes: Uint8Array;
  /** Absent for a new one. */
  readonly session?: string;
  /** The name of the reviewer; the default one when absent. */
  readonly agent?: string;
  /** Go on in a copy of the session. */
  readonly fork?: boolean;
}

export interface TurnOptions {
  /** The time limit of a review: less than requesters usually wait, so that they receive the error. */
  readonly reviewLimitMs?: number;
  /** An abort ends the review under way: no later process could end the programs it started. */
  readonly signal?: AbortSignal;
  /** Refuses requests for reasons of its own. */
  readonly check?: (checked: CheckedRequest) => CheckedRequest;
  /** Called with the reason of a failed review, which the answer does not contain. */
  readonly onFailure?: (error: unknown) => void;
}

export type TurnTaken =
  | {
      readonly type: "answered";
      readonly sessionID: string;
      /** JSON text without line breaks. */
      readonly response: string;
      /** The one who was asked for is not known, and the one who is always known reviewed instead. */
      readonly fellBack: boolean;
    }
  | { readonly type: "unknown" }
  | { readonly type: "busy" };

const REVIEW_LIMIT_MS = 240_000;

/** One turn of a conversation over any transport: the returned answer is durable already. */
export async function takeTurn(
  backend: SessionBackend,
  reviewers: readonly Reviewer[],
  { bytes, session, agent = DEFAULT_AGENT, fork = false }: TurnAsked,
  options: TurnOptions = {},
): Promise<TurnTaken> {
  const reviewerNamed = (name: string) => reviewers.find((one) => one.agent === name);
  const asked = reviewerNamed(agent);
  const reviewer = asked ?? reviewerNamed(DEFAULT_AGENT);
  assert(reviewer, `no reviewer named ${DEFAULT_AGENT}`);
  const { check = (given: CheckedRequest) => given } = options;
  const checked = check(readRequest(bytes));
  const work = async (present: ReviewSession) => {
    const { session, response } = await answer(present, checked, reviewer, options);
    return { session, result: { sessionID: present.sessionID, response } };
  };
  const answered = (result: { sessionID: string; response: string }): TurnTaken => ({
    type: "answered",
    ...result,
    fellBack: asked === undefined,
  });

  // A session is opened and reported also when its first request is wrong.
  if (session === undefined) return answered(await backend.withNewSession(work));
  const sessionID = fork ? await backend.fork(session) : session;
  if (sessionID === undefined) return { type: "unknown" };
  const held = await backend.withSession(sessionID, async (present) => onlyChanged(present, await work(present)));
  return held.ok ? answered(held.result) : { type: held.why };
}

function onlyChanged<T>(before: ReviewSession, { session, result }: Kept<T>): Kept<T> {
  return session === undefined || session === before ? { result } : { session, result };
}

interface Answered {
  readonly session: ReviewSession;
  readonly response: string;
}

async function answer(
  session: ReviewSession,
  checked: CheckedRequest,
  reviewer: Reviewer,
  { reviewLimitMs = REVIEW_LIMIT_MS, signal, onFailure }: TurnOptions,
): Promise<Answered> {
  const fingerprint = checked.ok ? fingerprintOf(checked.request) : "";
  const beginning = beginTurn({ checked, fingerprint, session, reviews: (type) => reviewer.reviews(type) });
  if (beginning.type === "again") return { session, response: beginning.response };
  if (beginning.type === "refused") return { session: beginning.session, response: errorResponse(beginning.answer) };
  const { turn } = beginning;
  try {
    const review = await reviewed(turn, reviewer, reviewLimitMs, signal);
    if (review !== undefined) return finishTurn(turn, review);
    onFailure?.(new AppError("unavailable", { reason: `The reviewer took longer than ${reviewLimitMs} ms` }));
    return failed(session, turn, "the review took too long");
  } catch (error) {
    onFailure?.(error);
    // Errors are not sent: they may hold paths, keys or the artifact.
    return failed(session, turn, "the review could not be made");
  }
}

function failed(session: ReviewSession, turn: Turn, message: string): Answered {
  const { request, decisions, acknowledged, warnings } = turn;
  const { iteration } = request;
  const error = { iteration, code: "INTERNAL_ERROR", message, ...defined({ acknowledged }), warnings } as const;
  return { session: withDecisions(session, decisions), response: errorResponse(error) };
}

/** Undefined on a timeout; the reviewer is then signalled to stop, and not waited for. */
async function reviewed(
  turn: Turn,
  reviewer: Reviewer,
  limitMs: number,
  given: AbortSignal | undefined,
): Promise<Review | undefined> {
  const { request, session, decisions } = turn;
  const stop = new AbortController();
  const over = new AbortController();
  const limit = sleep(limitMs, undefined, { signal: over.signal }).catch(() => undefined);
  try {
    const signal = given === undefined ? stop.signal : AbortSignal.any([stop.signal, given]);
    const review = await Promise.race([reviewer.review({ request, session, decisions, signal }), limit]);
    if (review !== undefined && !isUsable(review)) {
      throw unusableInput("the reviewer gave ids that are malformed or not unique");
    }
    return review;
  } finally {
    stop.abort();
    over.abort();
  }
}

/** Remark ids must differ, because decisions name remarks by them. */
function isUsable({ remarks }: Review): boolean {
  const ids = remarks.map(({ id }) => id);
  return ids.every((id) => REMARK_ID.test(id)) && new Set(ids).size === ids.length;
}
