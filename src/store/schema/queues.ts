import type { QueueItemState } from "../../protocol/queues/api.ts";
import type { ReviewRecord } from "../port/queue-records.ts";
import { bigint, flag, int, jsonText, type Row, table, text, time } from "./table.ts";

/** Unique by name in (tenant, workspace), where no workspace is one of its own. */
export const queues = table(
  "queues",
  {
    queue_id: text(),
    tenant: text(),
    workspace: text().orNull,
    name: text(),
    revision: int(),
    created_at: time(),
    blind: flag(),
    body: jsonText(),
  },
  { key: ["queue_id"], changing: ["name", "revision", "blind", "body"] },
);
export type QueuesTable = Row<typeof queues>;

/** Unique (queue_id, subject). */
export const queueItems = table(
  "queue_items",
  {
    item_id: text(),
    tenant: text(),
    workspace: text().orNull,
    queue_id: text(),
    run_id: text(),
    subject: text(),
    state: text<QueueItemState>(),
    position: bigint(),
    required: int(),
    revision: int(),
    created_at: time(),
    body: jsonText(),
  },
  { key: ["item_id"], changing: ["state", "position", "required", "revision", "body"] },
);
export type QueueItemsTable = Row<typeof queueItems>;

/** The reviews of an item by reviewer, replaced with every write of the item. */
export const queueReviews = table(
  "queue_reviews",
  {
    item_id: text(),
    reviewer: text(),
    queue_id: text(),
    status: text<ReviewRecord["status"]>(),
    until_at: time().orNull.as("untilMs"),
    at: time(),
  },
  { key: ["item_id", "reviewer"] },
);
export type QueueReviewsTable = Row<typeof queueReviews>;

/** Every open item before this place was judged or skipped by the reviewer: a search for the next one begins here. */
export const queueMarks = table(
  "queue_marks",
  { queue_id: text(), reviewer: text(), position: bigint(), item_id: text() },
  { key: ["queue_id", "reviewer"] },
);
