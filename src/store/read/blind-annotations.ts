import { type RawBuilder, type SqlBool, sql } from "kysely";

/**
 * Not what somebody else said about an item of a blind queue that is still open and that this reviewer has not judged. The
 * item is looked up by its id: most annotations were given for none.
 */
export function notBlindFor(reviewer: string): RawBuilder<SqlBool> {
  return sql`(queue_item_id is null or actor = ${reviewer} or not exists (
    select 1 from queue_items as item join queues as queue on queue.queue_id = item.queue_id
    where item.item_id = annotations.queue_item_id and item.state = 'open' and queue.blind = 1 and not exists (
      select 1 from queue_reviews as review
      where review.item_id = item.item_id and review.reviewer = ${reviewer} and review.status = 'judged')))`;
}
