import { AppError } from "../../protocol/errors.ts";
import type { LeaseRequest, NextItemResponse, QueueItemView } from "../../protocol/queues/api.ts";
import type { QueueItemRecord } from "../../store/port/judgments.ts";
import type { ApiRequest, Recorder } from "../execute.ts";
import type { Host } from "../host.ts";
import { requireReviewer, type Seat, seatOf, untilWritten, writeItem } from "./change-item.ts";
import { leaseItem } from "./decide/change-item.ts";
import { isHeld, reviewOf } from "./decide/item.ts";
import { fillQueue } from "./fill-queue.ts";
import { requireOpenQueue, storedItem } from "./queue-records.ts";

interface NextItem extends ApiRequest<LeaseRequest, NextItemResponse> {
  readonly queueId: string;
}

/** Items that are read at once: several reviewers may lease the same one at the same time. */
const CANDIDATES = 20;

/** Leases the item that the caller holds already, else the oldest with a free place; null where there is none. */
export async function nextItem(host: Host, { caller, queueId, request, record }: NextItem): Promise<NextItemResponse> {
  const seat = await seatOf(host, caller, queueId);
  requireReviewer(seat);
  requireOpenQueue(seat.queue);
  await fillQueue(host, seat.queue);
  const { leaseSeconds = seat.queue.rules.leaseSeconds } = request;
  const ofItem: Recorder<QueueItemView> = (item) => record({ item });
  const item = await untilWritten(host.store, queueId, async (attempts) => {
    const candidate = await candidateFor(host, seat, attempts);
    if (candidate === undefined) return null;
    const stored = storedItem(candidate);
    const atMs = host.nowMs();
    const leased = offered(() =>
      leaseItem(stored.item, { reviewer: caller.principal, atMs }, atMs + leaseSeconds * 1000),
    );
    return leased === undefined ? "moved" : writeItem(host, seat, stored, { item: leased }, ofItem);
  });
  return { item };
}

async function candidateFor(
  { store, nowMs }: Host,
  { queue, caller }: Seat,
  attempts: number,
): Promise<QueueItemRecord | undefined> {
  const { queueId } = queue.record;
  const reviewer = caller.principal;
  const leased = { queueId, limit: CANDIDATES, state: "open", reviewer, reviewStatus: "leased" } as const;
  const held = await store.listQueueItems(caller, leased);
  const mine = held.find((record) => {
    const review = reviewOf(storedItem(record).item, reviewer);
    return review !== undefined && isHeld(review, nowMs());
  });
  if (mine !== undefined) return mine;
  const free = await store.freeQueueItems(caller, { queueId, reviewer, nowMs: nowMs(), limit: CANDIDATES });
  // After a conflict with another process, a later item is taken at random.
  const skip = attempts === 0 ? 0 : Math.floor(Math.random() * Math.min(free.length, attempts + 1));
  return free[skip];
}

/** Undefined where the item has changed since the store listed it. */
function offered<T>(decide: () => T): T | undefined {
  try {
    return decide();
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
