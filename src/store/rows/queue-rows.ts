import type { QueueItemRecord, ReviewRecord } from "../port/judgments.ts";
import { type QueueItemsTable, type QueueReviewsTable, queueItems, queueReviews } from "../schema/queues.ts";

/** The row of an item that fills a queue. Throws when it has reviews: a new item cannot have any. */
export function freshItemRow(item: QueueItemRecord): QueueItemsTable {
  if (item.revision !== 1 || item.reviews.length > 0) throw new Error(`item ${item.itemId} is not new`);
  return queueItems.toRow(item);
}

export function reviewRows({ itemId, queueId, reviews }: QueueItemRecord): QueueReviewsTable[] {
  return reviews.map((review) => queueReviews.toRow({ ...review, itemId, queueId }));
}

/** `reviews` are those of the item, in the order of their reviewers. */
export function toItem(row: QueueItemsTable, reviews: readonly QueueReviewsTable[]): QueueItemRecord {
  const records = reviews.map(({ item_id: _, queue_id: __, ...review }) => queueReviews.toRecord(review));
  return { ...queueItems.toRecord(row), reviews: records };
}

/** The position before all items. */
export const FIRST_POSITION = Number.MIN_SAFE_INTEGER;

/** Whether a reviewer has judged or skipped an item; a lease may end. The same in both databases. */
export function passed(itemId: string, reviewer: string): string {
  return `exists (select 1 from queue_reviews as review where review.item_id = ${itemId}
      and review.reviewer = ${reviewer} and review.status in ('judged', 'skipped'))`;
}

/** The reviewers whose mark may move forward with a write of this item. */
export function passedBy({ reviews }: Pick<QueueItemRecord, "reviews">): string[] {
  return reviews.filter(isPassed).map(({ reviewer }) => reviewer);
}

function isPassed({ status }: ReviewRecord): boolean {
  return status === "judged" || status === "skipped";
}
