import type { QueueItemState } from "../../protocol/queues/api.ts";
import type { QueueItemRecord, QueueRecord, ReviewRecord, RunDeletion, Tombstone } from "../port/judgments.ts";
import type { QueueItemsTable, QueueReviewsTable, QueuesTable, RunTombstonesTable } from "../schema/queue-tables.ts";

export function queueRow(queue: QueueRecord): QueuesTable {
  return {
    queue_id: queue.queueId,
    tenant: queue.tenant,
    workspace: queue.workspace ?? null,
    name: queue.name,
    revision: queue.revision,
    created_at: queue.createdAtMs,
    blind: queue.blind ? 1 : 0,
    body: queue.body,
  };
}

export function toQueue(row: QueuesTable): QueueRecord {
  return {
    queueId: row.queue_id,
    tenant: row.tenant,
    ...(row.workspace === null ? {} : { workspace: row.workspace }),
    name: row.name,
    revision: row.revision,
    createdAtMs: row.created_at,
    blind: row.blind === 1,
    body: row.body,
  };
}

export function itemRow(item: QueueItemRecord): QueueItemsTable {
  return {
    item_id: item.itemId,
    tenant: item.tenant,
    workspace: item.workspace ?? null,
    queue_id: item.queueId,
    run_id: item.runId,
    subject: item.subject,
    state: item.state,
    position: item.position,
    required: item.required,
    revision: item.revision,
    created_at: item.createdAtMs,
    body: item.body,
  };
}

/** Of an item that fills a queue: nobody can have reviewed it. Throws otherwise, which is a mistake of the caller. */
export function freshItemRow(item: QueueItemRecord): QueueItemsTable {
  if (item.revision !== 1 || item.reviews.length > 0) throw new Error(`item ${item.itemId} is not new`);
  return itemRow(item);
}

export function reviewRows({ itemId, queueId, reviews }: QueueItemRecord): QueueReviewsTable[] {
  return reviews.map(({ reviewer, status, untilMs, atMs }) => ({
    item_id: itemId,
    reviewer,
    queue_id: queueId,
    status,
    until_at: untilMs ?? null,
    at: atMs,
  }));
}

/** `reviews` are those of the item, in the order of their reviewers. */
export function toItem(row: QueueItemsTable, reviews: readonly QueueReviewsTable[]): QueueItemRecord {
  return {
    itemId: row.item_id,
    queueId: row.queue_id,
    tenant: row.tenant,
    ...(row.workspace === null ? {} : { workspace: row.workspace }),
    runId: row.run_id,
    subject: row.subject,
    state: row.state as QueueItemState,
    position: row.position,
    required: row.required,
    revision: row.revision,
    createdAtMs: row.created_at,
    reviews: reviews.map(toReview),
    body: row.body,
  };
}

function toReview({ reviewer, status, until_at, at }: QueueReviewsTable): ReviewRecord {
  const known = status as ReviewRecord["status"];
  return { reviewer, status: known, ...(until_at === null ? {} : { untilMs: until_at }), atMs: at };
}

export function tombstoneRow(tombstone: RunDeletion): RunTombstonesTable {
  return {
    run_id: tombstone.runId,
    tenant: tombstone.tenant,
    workspace: tombstone.workspace ?? null,
    workflow_id: tombstone.workflowId,
    version: tombstone.version,
    reason: tombstone.reason,
    at: tombstone.atMs,
  };
}

export function toTombstone(row: RunTombstonesTable): Tombstone {
  return {
    runId: row.run_id,
    tenant: row.tenant,
    ...(row.workspace === null ? {} : { workspace: row.workspace }),
    workflowId: row.workflow_id,
    version: row.version,
    reason: row.reason as Tombstone["reason"],
    atMs: row.at,
  };
}
