import type { ReviewWrite } from "../port/reviews.ts";
import type { Refusal } from "../port/store.ts";
import { checkOf, type ReviewCheck, refusalOf, type StandingReviewRow } from "../rows/refuse-review.ts";
import { reviewRow, roundRow } from "../rows/review-rows.ts";
import type { Write } from "./operations.ts";
import { REVIEW_COLUMNS, ROUND_COLUMNS } from "./review-statements.ts";
import type { Statements } from "./statements.ts";

/** The rows of reviews, and what they depend on. */
export function flattenReviews(reviews: readonly ReviewWrite[] = [], writes: Write[]): ReviewCheck[] {
  for (const write of reviews) {
    if (write.type === "delete") {
      writes.push(["deleteRounds", [write.sessionId]], ["deleteReview", [write.sessionId]]);
      continue;
    }
    const row = reviewRow(write.session);
    writes.push(["putReview", REVIEW_COLUMNS.map((column) => row[column])]);
    for (const round of write.rounds) {
      const values = roundRow(row.tenant, round);
      writes.push(["insertRound", ROUND_COLUMNS.map((column) => values[column])]);
    }
  }
  return reviews.map(checkOf);
}

/** Whether sessions are as the unit takes them to be. */
export function checkReviews(
  tenant: string,
  checks: readonly ReviewCheck[],
  { reviewHead }: Statements,
): Refusal | undefined {
  for (const check of checks) {
    const refusal = refusalOf(tenant, check, reviewHead.get(check.sessionId) as StandingReviewRow | undefined);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}
