import { sortedJson } from "../../formats/json/canonical-json.ts";
import type { DecisionStatus, ReviewRequest } from "../../formats/reviews/request.ts";
import { sha256 } from "../../formats/text/sha256.ts";

/** A provider's record of one session. A session may hold several conversations: each begins with iteration 1. */
export interface ReviewSession {
  readonly sessionID: string;
  /** The last answered iteration of the present conversation, 0 before the first. */
  readonly last: number;
  readonly issued: readonly IssuedRemark[];
  /** Every decision that was received, oldest first. */
  readonly decisions: readonly ReceivedDecision[];
  /** The last success answer, to be given again when the same request comes again. */
  readonly answered?: AnsweredTurn;
  /** The session has reached the limits of its backend: nothing more is added. Never stored. */
  readonly isFull?: true;
  /** The content as it was last reviewed. */
  readonly artifact?: ReviewRequest["artifact"];
}

export interface IssuedRemark {
  readonly id: string;
  readonly aspect: string;
  readonly description: string;
  readonly recommendation: string;
  /** The iterations in which it was made. */
  readonly iterations: readonly number[];
  /** Stands for the part of the artifact that it was about when it was last made. */
  readonly part: string;
}

export interface ReceivedDecision {
  readonly iteration: number;
  readonly id: string;
  readonly status: DecisionStatus;
  readonly known: boolean;
  readonly reason_code?: string;
  readonly explanation?: string;
}

export interface AnsweredTurn {
  readonly iteration: number;
  readonly fingerprint: string;
  /** The response as JSON text. */
  readonly response: string;
}

export function newSession(sessionID: string): ReviewSession {
  return { sessionID, last: 0, issued: [], decisions: [] };
}

/** The latest decision on each remark of the present conversation. */
export function latestDecisions(session: ReviewSession): ReadonlyMap<string, ReceivedDecision> {
  return new Map(session.decisions.filter(({ known }) => known).map((one) => [one.id, one]));
}

/** Where the sessions of a provider are stored: a directory, or the store of a host. */
export interface SessionBackend {
  /**
   * Works on a session exclusively, across processes: the result of `work` is kept before the promise resolves. `busy` when others
   * hold the session for too long, `unknown` when no session has this id.
   */
  withSession<T>(sessionID: string, work: (session: ReviewSession) => Promise<Kept<T>>): Promise<Held<T>>;
  /** Works on a new session in the same way. */
  withNewSession<T>(work: (session: ReviewSession) => Promise<Kept<T>>): Promise<T>;
  /** A copy under a new id. */
  fork(sessionID: string): Promise<string | undefined>;
  /** The session that was used last. */
  latest(): Promise<string | undefined>;
  read(sessionID: string): Promise<ReviewSession | undefined>;
}

export interface Kept<T> {
  /** Absent when nothing changed. */
  readonly session?: ReviewSession;
  readonly result: T;
}

export type Held<T> =
  | { readonly ok: true; readonly result: T }
  | { readonly ok: false; readonly why: "unknown" | "busy" };

/** The fingerprint of a JSON value with sorted names and no blanks: the same request in another notation has the same one. */
export function fingerprintOf(value: unknown): string {
  return sha256(sortedJson(value));
}
