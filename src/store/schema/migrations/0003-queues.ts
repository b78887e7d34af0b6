import type { ColumnTypes } from "../dialect.ts";

/** Review queues and their items, and what is left of runs that were deleted. `body` is last, as in `runs`. */
export const queueTables = ({ text, int, bigint, strict }: ColumnTypes): string[] => [
  `create table queues (
    queue_id ${text} primary key,
    tenant ${text} not null,
    workspace ${text},
    name ${text} not null,
    revision ${int} not null,
    created_at ${bigint} not null,
    blind ${int} not null,
    body ${text} not null
  )${strict}`,
  `create table queue_items (
    item_id ${text} primary key,
    tenant ${text} not null,
    workspace ${text},
    queue_id ${text} not null,
    run_id ${text} not null,
    subject ${text} not null,
    state ${text} not null,
    position ${bigint} not null,
    required ${int} not null,
    revision ${int} not null,
    created_at ${bigint} not null,
    body ${text} not null
  )${strict}`,
  `create table queue_reviews (
    item_id ${text} not null,
    reviewer ${text} not null,
    queue_id ${text} not null,
    status ${text} not null,
    until_at ${bigint},
    at ${bigint} not null,
    primary key (item_id, reviewer)
  )${strict}`,
  `create table queue_marks (
    queue_id ${text} not null,
    reviewer ${text} not null,
    position ${bigint} not null,
    item_id ${text} not null,
    primary key (queue_id, reviewer)
  )${strict}`,
  `create table run_tombstones (
    run_id ${text} primary key,
    tenant ${text} not null,
    workspace ${text},
    workflow_id ${text} not null,
    version ${int} not null,
    reason ${text} not null,
    at ${bigint} not null
  )${strict}`,
];

export const QUEUE_INDEXES = [
  // Where there is no workspace, names are unique as well: nulls alone would all differ.
  "create unique index queues_by_name on queues (tenant, coalesce(workspace, ''), name)",
  "create index queues_by_tenant on queues (tenant, queue_id)",
  "create unique index queue_items_once on queue_items (queue_id, subject)",
  "create index queue_items_in_order on queue_items (queue_id, position, item_id)",
  "create index queue_items_by_state on queue_items (queue_id, state, position, item_id)",
  "create index queue_items_by_run on queue_items (run_id)",
  "create index queue_reviews_by_reviewer on queue_reviews (queue_id, reviewer, status, item_id)",
];
