import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Voter } from "../../protocol/gates/gate-rules.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { QueueItemView } from "../../protocol/queues/api.ts";
import type { AnnotationWrite } from "../../store/port/judgments.ts";
import type { Store, Unit } from "../../store/port/store.ts";
import { type ApiRequest, auditDraft, type Recorder, refused } from "../execute.ts";
import type { AuditNote } from "../gates/decide/vote.ts";
import { isPerson, voterOf } from "../gates/voter.ts";
import type { Host } from "../host.ts";
import { serializeFor } from "../shared/serialize.ts";
import { annotationIdsOf, type QueueItem } from "./decide/item.ts";
import { mayReview } from "./decide/rules.ts";
import { changedRecord, placeOf, type Queue, type StoredItem, visibleItem, visibleQueue } from "./queue-records.ts";
import { itemView, type Viewer } from "./views.ts";

export interface ItemCommand<Request> extends ApiRequest<Request, QueueItemView> {
  readonly queueId: string;
  readonly itemId: string;
}

/** A change of an item, and its side writes. */
export interface ItemChange {
  readonly item: QueueItem;
  /** Absent for leases, which are not audited. */
  readonly audit?: AuditNote;
  readonly sideWrites?: Pick<Unit, "annotations" | "audit">;
}

/** The caller in a queue, with the roles at the place of the queue, read now. */
export interface Seat {
  readonly queue: Queue;
  readonly caller: Caller;
  readonly reviewer: Voter;
  readonly viewer: Viewer;
  /** Whether the caller has an agent's or program's key of a principal that is a person at the place of the queue. */
  readonly standsInForPerson: boolean;
}

export async function seatOf(host: Host, caller: Caller, queueId: string): Promise<Seat> {
  return seatIn(host, caller, await visibleQueue(host, caller, queueId));
}

export async function seatIn(host: Host, caller: Caller, queue: Queue): Promise<Seat> {
  const reviewer = await voterOf(host, caller, placeOf(queue));
  const oversees = reviewer.grants("queues:manage") && !mayReview(queue.rules, reviewer);
  const standsInForPerson = caller.kind !== "user" && (await isPerson(host, placeOf(queue), caller.principal));
  return { queue, caller, reviewer, viewer: { principal: caller.principal, oversees }, standsInForPerson };
}

export function requireReviewer(seat: Seat): void {
  if (!mayReview(seat.queue.rules, seat.reviewer)) {
    throw new AppError("forbidden", { problem: "this queue is not assigned to you" });
  }
  requirePerson(seat);
}

/**
 * Refuses an agent's key in the name of a person: a principal judges an item once, so such a judgment would keep the person from judging and settle
 * the item in that person's name. Throws `forbidden`.
 */
export function requirePerson({ standsInForPerson, caller: { principal } }: Seat): void {
  if (!standsInForPerson) return;
  const problem = `${principal} is a person, who judges with a key of kind user; make a principal of its own for an agent or a program`;
  throw new AppError("forbidden", { problem });
}

const ATTEMPTS = 20;

/** Makes an attempt, and while the result is "moved" further ones, one after the other with those of others for the same row. */
export async function untilWritten<T>(
  store: Store,
  id: string,
  attempt: (attempts: number) => Promise<T | "moved">,
): Promise<T> {
  const first = await attempt(0);
  if (first !== "moved") return first;
  return serializeFor(store, id, async () => {
    for (let attempts = 1; attempts < ATTEMPTS; attempts++) {
      const result = await attempt(attempts);
      if (result !== "moved") return result;
    }
    throw new AppError("queue_conflict", { id });
  });
}

/** Changes an item: read, decide, write, and again where the item changed in between. A change is written at the next revision of its item. */
export async function changeItem(
  host: Host,
  seat: Seat,
  { itemId, record }: Pick<ItemCommand<unknown>, "itemId" | "record">,
  decide: (stored: StoredItem, nowMs: number) => ItemChange | Promise<ItemChange>,
): Promise<QueueItemView> {
  return untilWritten(host.store, itemId, async () => {
    const stored = await visibleItem(host, seat.caller, seat.queue.record.queueId, itemId);
    return writeItem(host, seat, stored, await decide(stored, host.nowMs()), record);
  });
}

/** Writes a change of an item; "moved" where the item, or an annotation of the change, was changed since it was read. */
export async function writeItem(
  host: Host,
  { queue, caller, viewer }: Seat,
  stored: StoredItem,
  { item, audit, sideWrites }: ItemChange,
  record: Recorder<QueueItemView>,
): Promise<QueueItemView | "moved"> {
  const nowMs = host.nowMs();
  const after = { ...stored, item, record: changedRecord(stored, item) };
  const view = itemView(queue, after, viewer, nowMs);
  const outcome = record(view);
  const target = `${stored.record.queueId}/${stored.record.itemId}`;
  const notes = audit === undefined ? [] : [auditDraft(caller, nowMs, target, audit)];
  const drafts = [...(sideWrites?.audit ?? []), ...notes];
  const made = sideWrites?.annotations ?? [];
  const annotations = [...made, ...(await unveiled(host, queue, [stored.item, item], made))];
  const committed = await host.store.commit({
    tenant: caller.tenant,
    queues: [{ type: "item", item: after.record }],
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(drafts.length === 0 ? {} : { audit: drafts }),
    ...defined({ idempotency: outcome }),
  });
  if (committed.ok) return view;
  const { refusal } = committed;
  if (refusal.type === "queue" || refusal.type === "annotation") return "moved";
  throw refused(refusal);
}

/** More judgments than one round has; of an item with hundreds of rounds, the latest are shown. */
const UNVEILED_MAX = 1000;

/** The judgments that a blind item withheld and that subscribers of judgments now receive, because the item is no longer open. */
async function unveiled(
  { store }: Host,
  { record: { tenant }, rules: { blind }, blindUntilMs }: Queue,
  [before, after]: readonly [QueueItem, QueueItem],
  written: readonly AnnotationWrite[],
): Promise<AnnotationWrite[]> {
  const untilMs = blind ? Number.POSITIVE_INFINITY : blindUntilMs;
  if (untilMs === undefined || before.state !== "open" || after.state === "open") return [];
  const known = new Set(written.flatMap(idsOf));
  const ids = annotationIdsOf(before)
    .filter((annotationId) => !known.has(annotationId))
    .slice(-UNVEILED_MAX);
  const found = ids.length === 0 ? [] : await store.annotationsById(tenant, ids);
  return found.filter(({ createdAtMs }) => createdAtMs <= untilMs).map((earlier) => ({ type: "show", earlier }));
}

function idsOf(write: AnnotationWrite): string[] {
  const made = "annotation" in write ? [write.annotation.annotationId] : [];
  return write.earlier === undefined ? made : [...made, write.earlier.annotationId];
}
