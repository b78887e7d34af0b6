import { FIRST_POSITION, passed } from "../read/queue-marks.ts";
import { type QueueItemsTable, type QueueReviewsTable, queueReviews } from "../schema/queues.ts";
import type { LockedRows } from "./current-rows.ts";
import { prepared } from "./prepared.ts";
import { insertInto, newest, type Statement, sorted, statement } from "./statements.ts";

const DELETE_REVIEWS = prepared("delete reviews", "delete from queue_reviews where item_id = any($1)");
const insertReviews = insertInto(queueReviews);

/** Queues, then items, then reviews: the order in which they are locked. */
export function writeQueueRows({ queues, items, itemReviews }: LockedRows): Statement[] {
  const changed = items.written(true);
  const written = [...changed, ...items.written(false)];
  const reviews = written.flatMap(({ item_id }) => itemReviews.get(item_id) ?? []);
  return [
    ...queues.statements(),
    ...items.statements(),
    ...statement(
      DELETE_REVIEWS,
      changed.map(({ item_id }) => item_id),
    ),
    ...insertReviews(sorted(reviews, ({ item_id, reviewer }) => [item_id, reviewer])),
    ...moveMarks(written, reviews),
  ];
}

const GIVEN_MARKS = "queue_marks as mark on mark.queue_id = given.queue_id";

/** To the first of the items, where there are several, that a reviewer could get now though all before it were passed. */
const LOWER_MARKS = prepared(
  "lower marks",
  `update queue_marks set position = low.position, item_id = low.item_id
  from (
    select distinct on (mark.queue_id, mark.reviewer) mark.queue_id, mark.reviewer, given.position, given.item_id
    from unnest($1::text[], $2::bigint[], $3::text[]) as given(queue_id, position, item_id)
    join ${GIVEN_MARKS} and (mark.position, mark.item_id) > (given.position, given.item_id)
    where not ${passed("given.item_id", "mark.reviewer")}
    order by mark.queue_id, mark.reviewer, given.position, given.item_id
  ) as low
  where queue_marks.queue_id = low.queue_id and queue_marks.reviewer = low.reviewer`,
);

/** On to the first item that the reviewer has yet to pass. */
const RAISE_MARKS = prepared(
  "raise marks",
  `insert into queue_marks (queue_id, reviewer, position, item_id)
  select given.queue_id, given.reviewer, next.position, next.item_id
  from unnest($1::text[], $2::text[]) as given(queue_id, reviewer)
  left join ${GIVEN_MARKS} and mark.reviewer = given.reviewer
  cross join lateral (
    select item.position, item.item_id from queue_items as item
    where item.queue_id = given.queue_id and item.state = 'open'
      and (item.position, item.item_id) >= (coalesce(mark.position, ${FIRST_POSITION}), coalesce(mark.item_id, ''))
      and not ${passed("item.item_id", "given.reviewer")}
    order by item.position, item.item_id limit 1
  ) as next
  on conflict (queue_id, reviewer) do update set position = excluded.position, item_id = excluded.item_id`,
);

/** No other process moves the marks of these queues now: every write of an item has locked its queue. */
function moveMarks(written: readonly QueueItemsTable[], reviews: readonly QueueReviewsTable[]): Statement[] {
  const open = written.filter(({ state }) => state === "open");
  const column = <R, K extends keyof R>(rows: readonly R[], name: K) => rows.map((row) => row[name]);
  const passes = newest(
    reviews.filter(({ status }) => status !== "leased"),
    ({ queue_id, reviewer }) => [queue_id, reviewer],
  );
  return [
    ...statement(LOWER_MARKS, column(open, "queue_id"), column(open, "position"), column(open, "item_id")),
    ...statement(RAISE_MARKS, column(passes, "queue_id"), column(passes, "reviewer")),
  ];
}
