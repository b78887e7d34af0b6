import type {
  CloseItemRequest,
  LeaseRequest,
  QueueItemView,
  RequeueRequest,
  SkipRequest,
} from "../../protocol/queues/api.ts";
import type { Host } from "../host.ts";
import { changeItem, type ItemCommand, requireReviewer, seatOf } from "./change-item.ts";
import { closeItem, leaseItem, releaseItem, requeueItem, skipItem } from "./decide/hold-item.ts";
import { requireOpenQueue } from "./queue-record.ts";

/** Holds an item for the caller, for longer where they held it before. */
export async function renewLease(host: Host, command: ItemCommand<LeaseRequest>): Promise<QueueItemView> {
  const seat = await reviewerSeat(host, command);
  const { leaseSeconds = seat.queue.rules.leaseSeconds } = command.request;
  return changeItem(host, seat, command, ({ item }, atMs) => ({
    item: leaseItem(item, { reviewer: command.caller.principal, atMs }, atMs + leaseSeconds * 1000),
  }));
}

/** Also from a queue that was closed meanwhile, and by somebody it is no longer assigned to. */
export async function release(host: Host, command: ItemCommand<unknown>): Promise<QueueItemView> {
  const seat = await seatOf(host, command.caller, command.queueId);
  return changeItem(host, seat, command, ({ item }, atMs) => ({
    item: releaseItem(item, { reviewer: command.caller.principal, atMs }),
  }));
}

export async function skip(host: Host, command: ItemCommand<SkipRequest>): Promise<QueueItemView> {
  const seat = await reviewerSeat(host, command);
  const reason = host.scrubber.scrubText(command.request.reason);
  return changeItem(host, seat, command, ({ item, record: { runId } }, atMs) => ({
    item: skipItem(item, { reviewer: command.caller.principal, atMs }, reason),
    audit: { action: "queue.skip", details: { runId } },
  }));
}

export async function requeue(host: Host, command: ItemCommand<RequeueRequest>): Promise<QueueItemView> {
  const seat = await seatOf(host, command.caller, command.queueId);
  const { reason } = command.request;
  return changeItem(host, seat, command, ({ item, record: { runId } }, atMs) => {
    const after = requeueItem(item, seat.queue.rules, atMs);
    const why = reason === undefined ? {} : { reason: host.scrubber.scrubText(reason) };
    return { item: after, audit: { action: "queue.requeue", details: { runId, round: after.round, ...why } } };
  });
}

export async function close(host: Host, command: ItemCommand<CloseItemRequest>): Promise<QueueItemView> {
  const seat = await seatOf(host, command.caller, command.queueId);
  const reason = host.scrubber.scrubText(command.request.reason);
  return changeItem(host, seat, command, ({ item, record: { runId } }) => ({
    item: closeItem(item),
    audit: { action: "queue.close-item", details: { runId, reason } },
  }));
}

async function reviewerSeat(host: Host, { caller, queueId }: ItemCommand<unknown>) {
  const seat = await seatOf(host, caller, queueId);
  requireReviewer(seat);
  requireOpenQueue(seat.queue);
  return seat;
}
