import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import { isId } from "../../protocol/id.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { QueueItemRecord, ReviewRecord } from "../../store/port/judgments.ts";
import type { Host } from "../host.ts";
import type { QueueItem } from "./decide/item.ts";
import type { Queue } from "./queue-record.ts";

/** What an item is about. */
export interface Subject {
  readonly runId: string;
  readonly nodeId?: string;
  /** One event of the run, such as the score of a task; never with a node. */
  readonly eventId?: string;
  readonly workflowId: string;
  readonly agentId?: string;
  /** Items are offered in this order. */
  readonly position: number;
  /** Who added it by hand. */
  readonly addedBy?: string;
}

/** All there is to know of an item, in one row: the rows of its reviews are what the store finds it by. */
interface ItemBody extends Omit<QueueItem, "itemId" | "state" | "required"> {
  readonly about: Omit<Subject, "runId" | "position">;
}

export interface StoredItem {
  readonly record: QueueItemRecord;
  readonly about: ItemBody["about"];
  readonly item: QueueItem;
}

export function subjectOf({ runId, nodeId, eventId }: Pick<Subject, "runId" | "nodeId" | "eventId">): string {
  // What follows the id of the run tells nodes and events apart, whatever they are called.
  if (eventId !== undefined) return `${runId}#${eventId}`;
  return nodeId === undefined ? runId : `${runId}/${nodeId}`;
}

export function newItem(host: Host, { record, rules }: Queue, subject: Subject): QueueItemRecord {
  const { runId, position, ...about } = subject;
  const { queueId, tenant, workspace } = record;
  const body: ItemBody = { about, round: 1, reviews: [], past: [] };
  return {
    itemId: host.newId("itm"),
    queueId,
    tenant,
    ...defined({ workspace }),
    runId,
    subject: subjectOf(subject),
    state: "open",
    position,
    required: rules.reviewersRequired,
    revision: 1,
    createdAtMs: host.nowMs(),
    reviews: [],
    body: JSON.stringify(body),
  };
}

export function storedItem(record: QueueItemRecord): StoredItem {
  const { about, ...body } = JSON.parse(record.body) as ItemBody;
  const { itemId, state, required } = record;
  return { record, about, item: { itemId, state, required, ...body } };
}

/** The record that makes a change of an item durable. */
export function changedRecord({ record, about }: StoredItem, item: QueueItem): QueueItemRecord {
  const { itemId: _, state, required: __, ...rest } = item;
  const body: ItemBody = { about, ...rest };
  const reviews = item.reviews.map((review): ReviewRecord => {
    const { reviewer, status, atMs } = review;
    return { reviewer, status, atMs, ...(review.status === "leased" ? { untilMs: review.untilMs } : {}) };
  });
  return { ...record, state, revision: record.revision + 1, reviews, body: JSON.stringify(body) };
}

export async function visibleItem(
  { store }: Pick<Host, "store">,
  visible: Visibility,
  queueId: string,
  itemId: string,
): Promise<StoredItem> {
  const found = isId(itemId) ? await store.readQueueItem(visible, queueId, itemId) : undefined;
  if (found === undefined) throw new AppError("not_found", { what: "item of a review queue", itemId });
  return storedItem(found);
}
