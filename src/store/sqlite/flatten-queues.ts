import type { QueueItemRecord, QueueWrite } from "../port/judgments.ts";
import { passedBy } from "../read/queue-marks.ts";
import { freshItemRow, itemRow, queueRow, reviewRows } from "../rows/queue-rows.ts";
import type { SqliteValue } from "./open-database.ts";
import type { QueueCheck, Write } from "./operations.ts";
import * as columns from "./queue-statements.ts";

/** The rows of queues and items, and what they depend on. */
export function flattenQueues(queues: readonly QueueWrite[] = [], writes: Write[]): QueueCheck[] {
  // A queue may be filled in the unit that makes it.
  const made = new Set(queues.flatMap((write) => (write.type === "queue" ? [write.queue.queueId] : [])));
  return queues.flatMap((write) => flattenQueue(write, made, writes));
}

function flattenQueue(write: QueueWrite, made: ReadonlySet<string>, writes: Write[]): QueueCheck[] {
  switch (write.type) {
    case "queue": {
      const { queueId, workspace, name, revision } = write.queue;
      writes.push(["putQueue", valuesOf(queueRow(write.queue), columns.QUEUE_COLUMNS)]);
      return [{ type: "queue", queueId, workspace: workspace ?? null, name, revision }];
    }
    case "item": {
      const { itemId, queueId, runId, subject, revision } = write.item;
      flattenItem(write.item, writes);
      return [...there(queueId, made), { type: "item", itemId, queueId, runId, subject, revision }];
    }
    case "fill": {
      for (const item of write.items) {
        writes.push(["fillItem", valuesOf(freshItemRow(item), columns.ITEM_COLUMNS)]);
        moveMarks(item, writes);
      }
      return [...new Set(write.items.map(({ queueId }) => queueId))].flatMap((queueId) => there(queueId, made));
    }
  }
}

function there(queueId: string, made: ReadonlySet<string>): QueueCheck[] {
  return made.has(queueId) ? [] : [{ type: "there", queueId }];
}

function flattenItem(item: QueueItemRecord, writes: Write[]): void {
  writes.push(["putItem", valuesOf(itemRow(item), columns.ITEM_COLUMNS)]);
  if (item.revision > 1) writes.push(["deleteReviews", [item.itemId]]);
  for (const row of reviewRows(item)) writes.push(["insertReview", valuesOf(row, columns.REVIEW_COLUMNS)]);
  moveMarks(item, writes);
}

function moveMarks(item: QueueItemRecord, writes: Write[]): void {
  const { itemId, queueId, state, position } = item;
  if (state === "open") writes.push(["lowerMarks", [queueId, position, itemId]]);
  for (const reviewer of passedBy(item)) writes.push(["raiseMark", [queueId, reviewer]]);
}

function valuesOf<C extends string>(row: Readonly<Record<C, SqliteValue>>, names: readonly C[]): SqliteValue[] {
  return names.map((name) => row[name]);
}
