import type { QueueItemRecord, ReviewRecord } from "../port/judgments.ts";

/** Before all others. */
export const FIRST_POSITION = Number.MIN_SAFE_INTEGER;

/** Whether a reviewer is through with an item; a lease may end. The same in both databases. */
export function passed(itemId: string, reviewer: string): string {
  return `exists (select 1 from queue_reviews as review where review.item_id = ${itemId}
      and review.reviewer = ${reviewer} and review.status in ('judged', 'skipped'))`;
}

/** Those whose mark may go on with a write of this item. */
export function passedBy({ reviews }: Pick<QueueItemRecord, "reviews">): string[] {
  return reviews.filter(isPassed).map(({ reviewer }) => reviewer);
}

function isPassed({ status }: ReviewRecord): boolean {
  return status === "judged" || status === "skipped";
}
