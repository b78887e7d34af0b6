import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Voter } from "../../protocol/gates/gate-rules.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { QueueItemView } from "../../protocol/queues/api.ts";
import type { AnnotationWrite } from "../../store/port/judgments.ts";
import type { Unit } from "../../store/port/store.ts";
import { auditDraft, type Recorder, refused } from "../execute.ts";
import type { AuditNote } from "../gates/decide/vote.ts";
import { isPerson, voterOf } from "../gates/voter.ts";
import type { Host } from "../host.ts";
import { serializeFor } from "../shared/serialize.ts";
import { annotationIdsOf, type QueueItem } from "./decide/item.ts";
import { mayReview } from "./decide/reviewers.ts";
import { changedRecord, type StoredItem, visibleItem } from "./item-record.ts";
import { placeOf, type Queue, visibleQueue } from "./queue-record.ts";
import { itemView, type Viewer } from "./views.ts";

export interface ItemCommand<Request> {
  readonly caller: Caller;
  readonly queueId: string;
  readonly itemId: string;
  readonly request: Request;
  readonly record: Recorder<QueueItemView>;
}

/** What a change of an item comes to, and what is written beside it. */
export interface ItemChange {
  readonly item: QueueItem;
  /** Leases and what becomes of them are told to nobody. */
  readonly audit?: AuditNote;
  readonly beside?: Pick<Unit, "annotations" | "audit">;
}

/** The caller in a queue: what they are where it belongs, read now. */
export interface Seat {
  readonly queue: Queue;
  readonly caller: Caller;
  readonly reviewer: Voter;
  readonly viewer: Viewer;
  /** An agent's or program's key of a principal that is a person here. */
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
  if (!mayReview(seat.queue.rules, seat.reviewer))
    throw new AppError("forbidden", { problem: "this queue is not assigned to you" });
  requirePerson(seat);
}

/**
 * A principal judges an item once, so an agent's key in a person's name would keep the person from judging, and settle the item in that name. Throws
 * `forbidden` for such a key.
 */
export function requirePerson({ standsInForPerson, caller: { principal } }: Seat): void {
  if (!standsInForPerson) return;
  const problem = `${principal} is a person, who judges with a key of kind user; make a principal of its own for an agent or a program`;
  throw new AppError("forbidden", { problem });
}

const ATTEMPTS = 20;

/**
 * Read, decide, write; again when the item moved in between. Everything that happens to an item happens at its next
 * revision, so that of those who decided by the same one only the first is written.
 */
export async function changeItem(
  host: Host,
  seat: Seat,
  { itemId, record }: Pick<ItemCommand<unknown>, "itemId" | "record">,
  decide: (stored: StoredItem, nowMs: number) => ItemChange | Promise<ItemChange>,
): Promise<QueueItemView> {
  const { queueId } = seat.queue.record;
  const attempt = async () => {
    const stored = await visibleItem(host, seat.caller, queueId, itemId);
    return writeItem(host, seat, stored, await decide(stored, host.nowMs()), record);
  };
  const first = await attempt();
  if (first !== "moved") return first;
  return serializeFor(host.store, itemId, async () => {
    for (let attempts = 1; attempts < ATTEMPTS; attempts++) {
      const view = await attempt();
      if (view !== "moved") return view;
    }
    throw new AppError("queue_conflict", { id: itemId });
  });
}

/** "moved" when the item, or an annotation that goes with it, is no longer what was decided by. */
export async function writeItem(
  host: Host,
  { queue, caller, viewer }: Seat,
  stored: StoredItem,
  { item, audit, beside }: ItemChange,
  record: Recorder<QueueItemView>,
): Promise<QueueItemView | "moved"> {
  const nowMs = host.nowMs();
  const after = { ...stored, item, record: changedRecord(stored, item) };
  const view = itemView(queue, after, viewer, nowMs);
  const outcome = record(view);
  const target = `${stored.record.queueId}/${stored.record.itemId}`;
  const notes = audit === undefined ? [] : [auditDraft(caller, nowMs, target, audit)];
  const drafts = [...(beside?.audit ?? []), ...notes];
  const said = beside?.annotations ?? [];
  const annotations = [...said, ...(await unveiled(host, queue, [stored.item, item], said))];
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

/** More judgments than one round has: of an item that was offered hundreds of times the last ones. */
const UNVEILED_MAX = 1000;

/** The judgments that a blind item has kept back, when it is open no more: those who follow judgments are told of them now. */
async function unveiled(
  { store }: Host,
  { record: { tenant }, rules: { blind }, blindUntilMs }: Queue,
  [before, after]: readonly [QueueItem, QueueItem],
  written: readonly AnnotationWrite[],
): Promise<AnnotationWrite[]> {
  const untilMs = blind ? Number.POSITIVE_INFINITY : blindUntilMs;
  if (untilMs === undefined || before.state !== "open" || after.state === "open") return [];
  const told = new Set(written.flatMap(idsOf));
  const ids = annotationIdsOf(before)
    .filter((annotationId) => !told.has(annotationId))
    .slice(-UNVEILED_MAX);
  const found = ids.length === 0 ? [] : await store.annotationsById(tenant, ids);
  return found.filter(({ createdAtMs }) => createdAtMs <= untilMs).map((earlier) => ({ type: "show", earlier }));
}

function idsOf(write: AnnotationWrite): string[] {
  const made = "annotation" in write ? [write.annotation.annotationId] : [];
  return write.earlier === undefined ? made : [...made, write.earlier.annotationId];
}
