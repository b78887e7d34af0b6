import type { QueueItemRecord, QueueWrite } from "../port/judgments.ts";
import type { QueueItemsTable, QueueReviewsTable, QueuesTable } from "../schema/queue-tables.ts";
import type { PreparedUnit } from "./prepare-unit.ts";
import { byKey, type Question, type RowsOf, type Standing, transpose } from "./standing.ts";

/** Of review queues: what the units of a batch depend on, as `StandingRows` is of the rest. */
export interface StandingQueues {
  readonly queues: Map<string, Standing<StandingQueue>>;
  /** The queue that has a name, by `nameKey`. */
  readonly names: Map<string, string>;
  readonly items: Map<string, Standing<StandingItem>>;
  /** The item that is about a subject, by `subjectKey`. */
  readonly subjects: Map<string, { readonly itemId: string; readonly revision: number }>;
}

export interface StandingQueue {
  readonly tenant: string;
  readonly revision: number;
  /** All of it, once a unit has written the queue. */
  readonly row?: QueuesTable;
}

export interface StandingItem {
  readonly tenant: string;
  readonly queue_id: string;
  readonly run_id: string;
  readonly revision: number;
  /** All of it, once a unit has written the item. */
  readonly written?: WrittenItem;
}

export interface WrittenItem {
  readonly row: QueueItemsTable;
  readonly reviews: readonly QueueReviewsTable[];
}

export function nameKey(tenant: string, workspace: string | null | undefined, name: string): string {
  return JSON.stringify([tenant, workspace ?? "", name]);
}

export function subjectKey(queueId: string, subject: string): string {
  return JSON.stringify([queueId, subject]);
}

// Also for a queue whose items alone are written: nobody else fills it in the meantime.
const LOCK_QUEUES =
  "select queue_id, tenant, revision from queues where queue_id = any($1) order by queue_id for update";

// Not locked: a queue that takes the name in another process makes ours fail at the unique index and look again.
const READ_NAMES = `select queues.queue_id, queues.revision, given.tenant, given.workspace, given.name
  from unnest($1::text[], $2::text[], $3::text[]) as given(tenant, workspace, name)
  join queues on queues.tenant = given.tenant and coalesce(queues.workspace, '') = given.workspace
    and queues.name = given.name`;

const LOCK_ITEMS = `select item_id, tenant, queue_id, run_id, revision from queue_items
  where item_id = any($1) order by item_id for update`;

// Leases are in no audit log and ask for no run: without this lock they would be written while the run of their item goes.
const LOCK_ITEMS_OF_DELETED = "select item_id from queue_items where run_id = any($1) order by item_id for update";

const READ_SUBJECTS = `select queue_items.item_id, queue_items.revision, queue_id, subject
  from unnest($1::text[], $2::text[]) as given(queue_id, subject) join queue_items using (queue_id, subject)`;

/** After external events: queues, then items. */
export function queueQuestions(batch: readonly PreparedUnit[]): Question[] {
  const writes = batch.flatMap(({ unit }) => unit.queues ?? []);
  const queueIds = new Set<string>();
  const names = new Map<string, readonly string[]>();
  const itemIds = new Set<string>();
  const subjects = new Map<string, readonly string[]>();
  const deleted = batch.flatMap(({ unit }) => (unit.deletions ?? []).map(({ runId }) => runId));
  for (const write of writes) {
    if (write.type === "queue") {
      const { queueId, tenant, workspace = "", name } = write.queue;
      queueIds.add(queueId);
      names.set(nameKey(tenant, workspace, name), [tenant, workspace, name]);
    }
    for (const { itemId, queueId, subject } of itemsOf(write)) {
      queueIds.add(queueId);
      itemIds.add(itemId);
      subjects.set(subjectKey(queueId, subject), [queueId, subject]);
    }
  }
  return [
    { name: "lock queues", text: LOCK_QUEUES, values: [[...queueIds]] },
    { name: "read queue names", text: READ_NAMES, values: transpose(3, names) },
    { name: "lock queue items", text: LOCK_ITEMS, values: [[...itemIds]] },
    { name: "lock items of deleted runs", text: LOCK_ITEMS_OF_DELETED, values: [deleted] },
    { name: "read queue subjects", text: READ_SUBJECTS, values: transpose(2, subjects) },
  ];
}

export function itemsOf(write: QueueWrite): readonly QueueItemRecord[] {
  if (write.type === "queue") return [];
  return write.type === "item" ? [write.item] : write.items;
}

/** Those that need their run: once there, an item goes when its run goes. */
export function newItems(write: QueueWrite): readonly QueueItemRecord[] {
  return itemsOf(write).filter(({ revision }) => revision === 1);
}

export function standingQueues(rowsOf: RowsOf): StandingQueues {
  const queues = byKey(rowsOf("lock queues"), ({ queue_id, ...row }) => [queue_id, row as StandingQueue]);
  const names = rowsOf("read queue names");
  for (const { queue_id, tenant, revision } of names) {
    if (!queues.has(queue_id)) queues.set(queue_id, { row: { tenant, revision }, stored: true, changed: false });
  }
  return {
    queues,
    names: new Map(names.map((row) => [nameKey(row.tenant, row.workspace, row.name), row.queue_id])),
    items: byKey(rowsOf("lock queue items"), ({ item_id, ...row }) => [item_id, row as StandingItem]),
    subjects: new Map(
      rowsOf("read queue subjects").map(({ item_id, revision, queue_id, subject }) => [
        subjectKey(queue_id, subject),
        { itemId: item_id, revision },
      ]),
    ),
  };
}
