import { sorted } from "./row-order.ts";
import type { Standing } from "./standing.ts";
import type { StandingQueues } from "./standing-queues.ts";
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
  return itemIds.length === 0 ? [] : [{ name: "delete reviews", text: DELETE_REVIEWS, values: [itemIds] }];
}

const insertReviews = insertInto("queue_reviews", {
  item_id: "text",
  reviewer: "text",
  queue_id: "text",
  status: "text",
  until_at: "bigint",
  at: "bigint",
} as const);
