import { sortedJson } from "../../formats/json/canonical-json.ts";
import { DECISIONS } from "../../formats/reviews/request.ts";
import { sha256 } from "../../formats/text/sha256.ts";
import { type Static, Type } from "../../protocol/schema.ts";

const IssuedRemark = Type.Object({
  id: Type.String(),
  aspect: Type.String(),
  description: Type.String(),
  recommendation: Type.String(),
  iterations: Type.Array(Type.Integer()),
  /** Stands for the part of the artifact that it was about when it was last made. */
  part: Type.String(),
});
export type IssuedRemark = Static<typeof IssuedRemark>;

const ReceivedDecision = Type.Object({
  iteration: Type.Integer(),
  id: Type.String(),
  status: Type.Enum(DECISIONS),
  known: Type.Boolean(),
  reason_code: Type.Optional(Type.String()),
  explanation: Type.Optional(Type.String()),
});
export type ReceivedDecision = Static<typeof ReceivedDecision>;

/** An answer is kept as JSON text. */
const AnsweredTurn = Type.Object({ iteration: Type.Integer(), fingerprint: Type.String(), response: Type.String() });
export type AnsweredTurn = Static<typeof AnsweredTurn>;

const Session = {
  sessionID: Type.String(),
  /** The last answered iteration of the present conversation, 0 before the first. */
  last: Type.Integer({ minimum: 0 }),
  issued: Type.Array(IssuedRemark),
  /** Every decision that was received, oldest first. */
  decisions: Type.Array(ReceivedDecision),
  /** The last success answer, to be given again when the same request comes again. */
  answered: Type.Optional(AnsweredTurn),
  /** The content as it was last reviewed. */
  artifact: Type.Optional(
    Type.Object({ media_type: Type.String(), content: Type.Unknown(), artifact_ref: Type.Optional(Type.String()) }),
  ),
};

/** A session in its file, with every answered turn of the present conversation, oldest first. */
export const SessionFile = Type.Object({ version: Type.Literal(1), ...Session, turns: Type.Array(AnsweredTurn) });

/** A provider's record of one session. A session may hold several conversations: each begins with iteration 1. */
export type ReviewSession = Readonly<Omit<Static<typeof SessionFile>, "version" | "turns">> & {
  /** The session has reached the limits of its backend: nothing more is added. Never stored. */
  readonly isFull?: true;
};

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
  withNewSession<T>(work: (session: ReviewSession) => Promise<Kept<T>>): Promise<T>;
  /** A copy under a new id. */
  fork(sessionID: string): Promise<string | undefined>;
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
