import type { ReviewRequest } from "../formats/reviews/request.ts";
import type { Review } from "./provider/finish-turn.ts";
import type { ReceivedDecision, ReviewSession } from "./provider/session.ts";

/** The reviewer behind a provider. Throws on failure; the provider then answers INTERNAL_ERROR without details. */
export interface Reviewer {
  /** The name in requests. */
  readonly agent: string;
  /** Whether it accepts artifacts of this type, which is lower-case and without parameters. */
  reviews(mediaType: string): boolean;
  review(asked: ReviewAsked): Promise<Review>;
}

export interface ReviewAsked {
  readonly request: ReviewRequest;
  /** The conversation before this turn: what was remarked, what was decided, the artifact as it was. */
  readonly session: ReviewSession;
  readonly decisions: readonly ReceivedDecision[];
  readonly signal: AbortSignal;
}

/** The name that is always known. */
export const DEFAULT_AGENT = "qualitative-reviewer";
