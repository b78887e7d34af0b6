import { FIRST_POSITION, passed } from "../read/queue-marks.ts";
import { prepared } from "./prepared.ts";
import { newest, sorted } from "./row-order.ts";
import type { Standing } from "./standing.ts";
import type { StandingQueues, WrittenItem } from "./standing-queues.ts";
import { insertInto, type Statement, update } from "./statements.ts";

/** Queues, then items, then what reviewers have to do with them: in the order in which they are locked. */
export function writeQueueRows({ queues, items }: StandingQueues): Statement[] {
  const [changedQueues, freshQueues] = changed(queues, ({ row }) => row);
  const [changedItems, freshItems] = changed(items, ({ written }) => written);
  const reviews = [...changedItems, ...freshItems].flatMap((written) => written.reviews);
  return [
    ...updateQueues(changedQueues),
    ...insertQueues(sorted(freshQueues, ({ queue_id }) => [queue_id])),
    ...updateItems(changedItems.map(({ row }) => row)),
    ...insertItems(
      sorted(
        freshItems.map(({ row }) => row),
        ({ item_id }) => [item_id],
      ),
    ),
    ...deleteReviews(changedItems.map(({ row }) => row.item_id)),
    ...insertReviews(sorted(reviews, ({ item_id, reviewer }) => [item_id, reviewer])),
    ...moveMarks([...changedItems, ...freshItems]),
  ];
}

function changed<R, T>(rows: ReadonlyMap<string, Standing<R>>, written: (row: R) => T | undefined): [T[], T[]] {
  const [stored, fresh]: [T[], T[]] = [[], []];
  for (const standing of rows.values()) {
    const row = standing.changed ? written(standing.row) : undefined;
    if (row !== undefined) (standing.stored ? stored : fresh).push(row);
  }
  return [stored, fresh];
}

const CHANGING_IN_A_QUEUE = {
  queue_id: "text",
  name: "text",
  revision: "integer",
  blind: "integer",
  body: "text",
} as const;
const updateQueues = update("queues", CHANGING_IN_A_QUEUE, ["queue_id"]);
const insertQueues = insertInto("queues", {
  ...CHANGING_IN_A_QUEUE,
  tenant: "text",
  workspace: "text",
  created_at: "bigint",
} as const);

const CHANGING_IN_AN_ITEM = {
  item_id: "text",
  state: "text",
  position: "bigint",
  required: "integer",
  revision: "integer",
  body: "text",
} as const;
const updateItems = update("queue_items", CHANGING_IN_AN_ITEM, ["item_id"]);
const insertItems = insertInto("queue_items", {
  ...CHANGING_IN_AN_ITEM,
  tenant: "text",
  workspace: "text",
  queue_id: "text",
  run_id: "text",
  subject: "text",
  created_at: "bigint",
} as const);

const DELETE_REVIEWS = "delete from queue_reviews where item_id = any($1)";

function deleteReviews(itemIds: readonly string[]): Statement[] {
  return itemIds.length === 0 ? [] : [{ ...prepared("delete reviews", DELETE_REVIEWS), values: [itemIds] }];
}

const insertReviews = insertInto("queue_reviews", {
  item_id: "text",
  reviewer: "text",
  queue_id: "text",
  status: "text",
  until_at: "bigint",
  at: "bigint",
} as const);

const GIVEN_MARKS = "queue_marks as mark on mark.queue_id = given.queue_id";

/** To the first of the items, where there are several, that a reviewer could get now though all before it were passed. */
const LOWER_MARKS = `update queue_marks set position = low.position, item_id = low.item_id
  from (
    select distinct on (mark.queue_id, mark.reviewer) mark.queue_id, mark.reviewer, given.position, given.item_id
    from unnest($1::text[], $2::bigint[], $3::text[]) as given(queue_id, position, item_id)
    join ${GIVEN_MARKS} and (mark.position, mark.item_id) > (given.position, given.item_id)
    where not ${passed("given.item_id", "mark.reviewer")}
    order by mark.queue_id, mark.reviewer, given.position, given.item_id
  ) as low
  where queue_marks.queue_id = low.queue_id and queue_marks.reviewer = low.reviewer`;

/** On to the first item that the reviewer has yet to pass. */
const RAISE_MARKS = `insert into queue_marks (queue_id, reviewer, position, item_id)
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
  on conflict (queue_id, reviewer) do update set position = excluded.position, item_id = excluded.item_id`;

/** Nobody else moves the marks of these queues now: whoever writes an item has locked its queue. */
function moveMarks(written: readonly WrittenItem[]): Statement[] {
  const open = written.map(({ row }) => row).filter(({ state }) => state === "open");
  const places = [open.map((row) => row.queue_id), open.map((row) => row.position), open.map((row) => row.item_id)];
  const passes = newest(
    written.flatMap(({ reviews }) => reviews.filter(({ status }) => status !== "leased")),
    ({ queue_id, reviewer }) => [queue_id, reviewer],
  );
  const reviewers = [passes.map(({ queue_id }) => queue_id), passes.map(({ reviewer }) => reviewer)];
  return [
    ...(open.length === 0 ? [] : [{ ...prepared("lower marks", LOWER_MARKS), values: places }]),
    ...(passes.length === 0 ? [] : [{ ...prepared("raise marks", RAISE_MARKS), values: reviewers }]),
  ];
}
