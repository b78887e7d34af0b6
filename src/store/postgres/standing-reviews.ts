import type { StandingReviewRow } from "../rows/refuse-review.ts";
import type { ReviewSessionsTable } from "../schema/review-tables.ts";
import type { PreparedUnit } from "./prepare-unit.ts";
import { byKey, type Question, type RowsOf, type Standing } from "./standing.ts";

/** Of reviews: what the units of a batch depend on, as `StandingRows` is of the rest. */
export interface StandingReviews {
  /** By session. */
  readonly reviews: Map<string, Standing<StandingReview>>;
}

export type StandingReview = StandingReviewRow & {
  /** All of it, once a unit has written the session. */
  readonly written?: ReviewSessionsTable;
};

const LOCK_REVIEWS = `select session_id, tenant, revision, lease_owner from review_sessions
  where session_id = any($1) order by session_id for update`;

export function reviewQuestions(batch: readonly PreparedUnit[]): Question[] {
  const writes = batch.flatMap(({ unit }) => unit.reviews ?? []);
  const sessionIds = new Set(writes.map((write) => (write.type === "delete" ? write : write.session).sessionId));
  return [{ name: "lock reviews", text: LOCK_REVIEWS, values: [[...sessionIds]] }];
}

export function standingReviews(rowsOf: RowsOf): StandingReviews {
  return { reviews: byKey(rowsOf("lock reviews"), ({ session_id, ...row }) => [session_id, row as StandingReview]) };
}
