import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import { isId } from "../../protocol/id.ts";
import { type Visibility, visibilityOf } from "../../protocol/identity/identity.ts";
import type { QUEUE_STATES, QueueRules } from "../../protocol/queues/api.ts";
import type { ChangePlace, QueueItemRecord, QueueRecord, ReviewRecord } from "../../store/port/judgments.ts";
import type { Host } from "../host.ts";
import type { QueueItem } from "./decide/item.ts";

/** The members of a queue that the store does not search by. */
export interface QueueBody {
  readonly createdBy: string;
  readonly state: (typeof QUEUE_STATES)[number];
  /** Counts the changes of the rules. The record's own revision also counts every time the queue was filled. */
  readonly rulesRevision: number;
  readonly rules: QueueRules;
  readonly cursor: QueueCursor;
  /** When the queue was last blind, if it no longer is: judgments that its items withheld until then are shown when the items are finished. */
  readonly blindUntilMs?: number;
}

/** The position of the query, in runs by the time of their end, or in changes of annotations. */
export interface QueueCursor {
  readonly ended?: { readonly endedAtMs: number; readonly runId: string };
  readonly place?: ChangePlace;
}

export interface Queue extends QueueBody {
  readonly record: QueueRecord;
}

export function queueOf(record: QueueRecord): Queue {
  return { ...(JSON.parse(record.body) as QueueBody), record };
}

/** The record that makes a change of a queue durable. */
export function nextRecord({ record }: Queue, body: QueueBody): QueueRecord {
  const { name, blind } = body.rules;
  return { ...record, name, blind, revision: record.revision + 1, body: JSON.stringify(body) };
}

export function bodyOf({ record: _, ...body }: Queue): QueueBody {
  return body;
}

export async function visibleQueue(
  { store }: Pick<Host, "store">,
  visible: Visibility,
  queueId: string,
): Promise<Queue> {
  const found = isId(queueId) ? await store.readQueue(visible, queueId) : undefined;
  if (found === undefined) throw new AppError("not_found", { what: "review queue", queueId });
  return queueOf(found);
}

/** The rows at the place of a queue. */
export function placeOf({ record }: Queue): Visibility {
  return visibilityOf(record);
}

export function requireOpenQueue({ state, record: { queueId } }: Queue): void {
  if (state === "closed") throw new AppError("queue_closed", { queueId });
}

/** The subject of an item. */
export interface Subject {
  readonly runId: string;
  readonly nodeId?: string;
  /** One event of the run, such as the score of a task; never with a node. */
  readonly eventId?: string;
  readonly workflowId: string;
  readonly agentId?: string;
  /** Items are offered in this order. */
  readonly position: number;
  /** The principal that added it by a request. */
  readonly addedBy?: string;
}

/** An item without the members that the store searches by. */
interface ItemBody extends Omit<QueueItem, "itemId" | "state" | "required"> {
  readonly about: Omit<Subject, "runId" | "position">;
}

export interface StoredItem {
  readonly record: QueueItemRecord;
  readonly about: ItemBody["about"];
  readonly item: QueueItem;
}

export function subjectOf({ runId, nodeId, eventId }: Pick<Subject, "runId" | "nodeId" | "eventId">): string {
  // The separator after the run id distinguishes nodes and events of the same name.
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
