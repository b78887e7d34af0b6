import type { QueueItemRecord, QueueRecord, QueueWrite } from "../port/judgments.ts";
import type { Refusal, Unit } from "../port/store.ts";
import { freshItemRow, itemRow, queueRow, reviewRows } from "../rows/queue-rows.ts";
import { change } from "./standing.ts";
import { itemsOf, nameKey, type StandingItem, type StandingQueues, subjectKey } from "./standing-queues.ts";
import type { StandingRows } from "./standing-rows.ts";

/** Whether queues and items are as the unit takes them to be. */
export function checkQueues({ tenant, queues: writes = [] }: Unit, standing: StandingRows): Refusal | undefined {
  // A queue may be filled in the unit that makes it.
  const made = new Set(writes.flatMap((write) => (write.type === "queue" ? [write.queue.queueId] : [])));
  for (const write of writes) {
    for (const { queueId } of itemsOf(write)) {
      const there = made.has(queueId) || standing.queues.get(queueId)?.row.tenant === tenant;
      if (!there) return { type: "queue", id: queueId, revision: 0 };
    }
    const refusal =
      write.type === "queue"
        ? checkQueue(tenant, write.queue, standing)
        : write.type === "item"
          ? checkItem(tenant, write.item, standing)
          : undefined;
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function checkQueue(tenant: string, queue: QueueRecord, { queues, names }: StandingQueues): Refusal | undefined {
  const { queueId, workspace, name, revision } = queue;
  const moved = checkRevision(tenant, queueId, revision, queues.get(queueId)?.row);
  if (moved !== undefined) return moved;
  const named = names.get(nameKey(tenant, workspace, name));
  if (named === undefined || named === queueId) return undefined;
  return { type: "queue", id: named, revision: queues.get(named)?.row.revision ?? 0 };
}

function checkItem(tenant: string, item: QueueItemRecord, standing: StandingRows): Refusal | undefined {
  const { itemId, queueId, runId, subject, revision } = item;
  const found = standing.items.get(itemId)?.row;
  const head = found !== undefined && found.queue_id !== queueId ? { ...found, tenant: "" } : found;
  const moved = checkRevision(tenant, itemId, revision, head);
  if (moved !== undefined || revision > 1) return moved;
  if (!isThere(tenant, runId, standing)) return { type: "version", runId, version: 0 };
  const other = standing.subjects.get(subjectKey(queueId, subject));
  return (
    other && {
      type: "queue",
      id: other.itemId,
      revision: standing.items.get(other.itemId)?.row.revision ?? other.revision,
    }
  );
}

function isThere(tenant: string, runId: string, { runs }: StandingRows): boolean {
  return runs.get(runId)?.row.tenant === tenant;
}

interface Head {
  readonly tenant: string;
  readonly revision: number;
}

/** What another tenant has does not exist for this one, and its id is not to be had either. */
function checkRevision(tenant: string, id: string, revision: number, head: Head | undefined): Refusal | undefined {
  const foreign = head !== undefined && head.tenant !== tenant;
  const standing = head === undefined || foreign ? 0 : head.revision;
  return standing === revision - 1 && !foreign ? undefined : { type: "queue", id, revision: standing };
}

export function applyQueues(writes: readonly QueueWrite[], standing: StandingRows): void {
  for (const write of writes) {
    if (write.type === "queue") applyQueue(write.queue, standing);
    else if (write.type === "item") applyItem(write.item, standing);
    else for (const item of write.items) fill(item, standing);
  }
}

function applyQueue(queue: QueueRecord, { queues, names }: StandingQueues): void {
  const { queueId, tenant, workspace, name, revision } = queue;
  for (const [key, id] of names) if (id === queueId) names.delete(key);
  names.set(nameKey(tenant, workspace, name), queueId);
  change(queues, queueId, { tenant, revision, row: queueRow(queue) });
}

function applyItem(item: QueueItemRecord, { items, subjects }: StandingQueues): void {
  const { itemId, queueId, subject, revision } = item;
  subjects.set(subjectKey(queueId, subject), { itemId, revision });
  change(items, itemId, { ...headOf(item), written: { row: itemRow(item), reviews: reviewRows(item) } });
}

/** Passed over where the queue has the subject, and where the run was deleted since somebody found it. */
function fill(item: QueueItemRecord, standing: StandingRows): void {
  const row = freshItemRow(item);
  const key = subjectKey(item.queueId, item.subject);
  if (standing.subjects.has(key) || !isThere(item.tenant, item.runId, standing)) return;
  standing.subjects.set(key, { itemId: item.itemId, revision: 1 });
  change(standing.items, item.itemId, { ...headOf(item), written: { row, reviews: [] } });
}

function headOf({ tenant, queueId, runId, revision }: QueueItemRecord): StandingItem {
  return { tenant, queue_id: queueId, run_id: runId, revision };
}
