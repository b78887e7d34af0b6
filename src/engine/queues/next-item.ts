import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { LeaseRequest, NextItemResponse, QueueItemView } from "../../protocol/queues/api.ts";
import type { QueueItemRecord } from "../../store/port/judgments.ts";
import type { Recorder } from "../execute.ts";
import type { Host } from "../host.ts";
import { serializeFor } from "../shared/serialize.ts";
import { requireReviewer, type Seat, seatOf, writeItem } from "./change-item.ts";
import { leaseItem } from "./decide/hold-item.ts";
import { isHeld, reviewOf } from "./decide/item.ts";
import { fillQueue } from "./fill-queue.ts";
import { storedItem } from "./item-record.ts";
import { requireOpenQueue } from "./queue-record.ts";

interface NextItem {
  readonly caller: Caller;
  readonly queueId: string;
  readonly request: LeaseRequest;
  readonly record: Recorder<NextItemResponse>;
}

const ATTEMPTS = 20;

/** How many are looked at when several reviewers reach for the same one. */
const CANDIDATES = 20;

/** Leases the item that the caller holds already, else the oldest that has a place for them; null when none has. */
export async function nextItem(host: Host, { caller, queueId, request, record }: NextItem): Promise<NextItemResponse> {
  const seat = await seatOf(host, caller, queueId);
  requireReviewer(seat);
  requireOpenQueue(seat.queue);
  await fillQueue(host, seat.queue);
  const { leaseSeconds = seat.queue.rules.leaseSeconds } = request;
  const ofItem: Recorder<QueueItemView> = (item) => record({ item });
  const attempt = async (attempts: number): Promise<QueueItemView | "moved" | "none"> => {
    const candidate = await candidateFor(host, seat, attempts);
    if (candidate === undefined) return "none";
    const stored = storedItem(candidate);
    const atMs = host.nowMs();
    const leased = offered(() =>
      leaseItem(stored.item, { reviewer: caller.principal, atMs }, atMs + leaseSeconds * 1000),
    );
    return leased === undefined ? "moved" : writeItem(host, seat, stored, { item: leased }, ofItem);
  };
  const first = await attempt(0);
  if (first !== "moved") return { item: first === "none" ? null : first };
  return serializeFor(host.store, queueId, async () => {
    for (let attempts = 1; attempts < ATTEMPTS; attempts++) {
      const found = await attempt(attempts);
      if (found !== "moved") return { item: found === "none" ? null : found };
    }
    throw new AppError("queue_conflict", { id: queueId });
  });
}

async function candidateFor(
  { store, nowMs }: Host,
  { queue, caller }: Seat,
  attempts: number,
): Promise<QueueItemRecord | undefined> {
  const { queueId } = queue.record;
  const reviewer = caller.principal;
  const held = await store.listQueueItems(caller, {
    queueId,
    limit: CANDIDATES,
    state: "open",
    reviewer,
    reviewStatus: "leased",
  });
  const mine = held.find((record) => {
    const review = reviewOf(storedItem(record).item, reviewer);
    return review !== undefined && isHeld(review, nowMs());
  });
  if (mine !== undefined) return mine;
  const free = await store.freeQueueItems(caller, { queueId, reviewer, nowMs: nowMs(), limit: CANDIDATES });
  // Whoever lost the first one to another process looks further down, each somewhere else.
  const skip = attempts === 0 ? 0 : Math.floor(Math.random() * Math.min(free.length, attempts + 1));
  return free[skip];
}

/** Undefined where the item is no longer what the store offered it as. */
function offered<T>(decide: () => T): T | undefined {
  try {
    return decide();
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
