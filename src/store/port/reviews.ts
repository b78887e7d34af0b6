import type { Visibility } from "../../protocol/identity/identity.ts";

/** Review sessions: the state that the provider keeps of each, and its rounds. */
export interface Reviews {
  /** Undefined when there is none that the caller may see. */
  readReview(visible: Visibility, sessionId: string): Promise<StoredReview | undefined>;
  /** The one that begins first is last; `before` is the last one of the page before. Without what is remembered. */
  listReviews(visible: Visibility, query: ReviewQuery): Promise<ReviewHead[]>;
  /** Of those that this principal began, the one that was written last. */
  latestReview(visible: Visibility, createdBy: string): Promise<string | undefined>;
  /** Rounds of these sessions, in order, at most `limit`. Unscoped but for the tenant: callers look the sessions up first. */
  reviewRounds(tenant: string, sessionIds: readonly string[], after: RoundPlace, limit: number): Promise<StoredRound[]>;
  /**
   * Holds a session for one owner until a time, unless another holds it: "held" then, and undefined when there is none. Two
   * claimers never both get it. A later write is refused when another caller has claimed it since.
   */
  claimReview(visible: Visibility, claim: ReviewClaim): Promise<StoredReview | "held" | undefined>;
  /** Whether the owner still holds it; then until the new time. */
  renewReview(sessionId: string, owner: string, untilMs: number): Promise<boolean>;
  /** Lets go of what the owner holds. */
  releaseReview(sessionId: string, owner: string): Promise<void>;
}

export interface ReviewHead {
  readonly sessionId: string;
  readonly tenant: string;
  readonly workspace?: string;
  /** The latest reviewer. */
  readonly agent: string;
  readonly createdBy: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Counts up with every write; 1 when it is new. */
  readonly revision: number;
  /** How many there are. */
  readonly rounds: number;
}

export interface StoredReview extends ReviewHead {
  /** JSON: what the provider remembers, scrubbed. */
  readonly memory: string;
}

/** One request that moved a session on. Never changed. */
export interface StoredRound {
  readonly sessionId: string;
  /** From 1, without a gap. */
  readonly n: number;
  readonly atMs: number;
  /** JSON: what was decided and remarked, scrubbed. */
  readonly body: string;
}

export interface RoundPlace {
  readonly sessionId: string;
  readonly n: number;
}

export const FIRST_ROUND: RoundPlace = { sessionId: "", n: 0 };

export interface ReviewQuery {
  readonly limit: number;
  readonly before?: Pick<ReviewHead, "createdAtMs" | "sessionId">;
  readonly agent?: string;
  /** When it began, inclusive and exclusive. */
  readonly fromMs?: number;
  readonly toMs?: number;
}

export interface ReviewClaim {
  readonly sessionId: string;
  readonly owner: string;
  readonly nowMs: number;
  readonly untilMs: number;
}

export type ReviewWrite =
  /**
   * Refused unless the session stands at the revision before, and `heldBy` holds it; a new one, of revision 1, is held by
   * no holder and its id is free. It has no holder afterwards.
   */
  | {
      readonly type: "round";
      readonly session: StoredReview;
      readonly heldBy?: string;
      /** Go on from those that are there. */
      readonly rounds: readonly StoredRound[];
    }
  /** With all of its rounds, whether or not it is held. Refused when it is not there. */
  | { readonly type: "delete"; readonly sessionId: string };
