import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { AnnotateRequest } from "../../protocol/judgments/annotation-api.ts";
import type {
  AdjudicateRequest,
  CloseItemRequest,
  JudgeRequest,
  LeaseRequest,
  QueueItemView,
  RequeueRequest,
  SkipRequest,
} from "../../protocol/queues/api.ts";
import type { AnnotationRecord, AnnotationWrite } from "../../store/port/judgments.ts";
import { visibleRun } from "../execute.ts";
import type { Host } from "../host.ts";
import { annotationOf, recording, requireOverruling } from "../judgments/annotate.ts";
import { actorKindOf } from "../judgments/decide/annotate.ts";
import { identityOf } from "../runs/run-identity.ts";
import {
  changeItem,
  type ItemChange,
  type ItemCommand,
  requirePerson,
  requireReviewer,
  type Seat,
  seatOf,
} from "./change-item.ts";
import {
  adjudicateItem,
  closeItem,
  earlierJudgments,
  judgeItem,
  leaseItem,
  releaseItem,
  requeueItem,
  skipItem,
} from "./decide/change-item.ts";
import { type AnnotationContent, annotationsFor, mayAdjudicate } from "./decide/rules.ts";
import { requireOpenQueue, type StoredItem } from "./queue-records.ts";

/** Leases an item for the caller, or extends the lease. */
export async function renewLease(host: Host, command: ItemCommand<LeaseRequest>): Promise<QueueItemView> {
  const seat = await reviewerSeat(host, command);
  const { leaseSeconds = seat.queue.rules.leaseSeconds } = command.request;
  return changeItem(host, seat, command, ({ item }, atMs) => ({
    item: leaseItem(item, { reviewer: command.caller.principal, atMs }, atMs + leaseSeconds * 1000),
  }));
}

/** Releases a lease, also in a closed queue, and by a principal that the queue is no longer assigned to. */
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

/** Judges an item: its next state and the annotations of the judgment are written in one commit. */
export async function judge(host: Host, command: ItemCommand<JudgeRequest>): Promise<QueueItemView> {
  const { caller, request } = command;
  const seat = await seatOf(host, caller, command.queueId);
  requireReviewer(seat);
  requireOpenQueue(seat.queue);
  const { rules } = seat.queue;
  const contents = annotationsFor(rules, request);
  const { revise = false, confidence } = request;
  return changeItem(host, seat, command, async (stored, atMs) => {
    const reviewer = caller.principal;
    const decide = (annotationIds: readonly string[]) => {
      const judgment = { kind: actorKindOf(caller.kind), value: request.value, annotationIds };
      return judgeItem(stored.item, rules, { reviewer, atMs, judgment, revise });
    };
    // Refuses before anything is read.
    decide([]);
    const earlier = await liveOf(host, caller.tenant, stored, reviewer);
    for (const one of earlier) requireOverruling(caller, one);
    const made = await annotations(host, seat, stored, contents, { confidence, earlier });
    return { ...made, item: decide(made.ids), audit: noteOf("queue.judge", stored) };
  });
}

/** Adds a final judgment, which replaces none of the reviewers' judgments. */
export async function adjudicate(host: Host, command: ItemCommand<AdjudicateRequest>): Promise<QueueItemView> {
  const { caller, request } = command;
  const seat = await seatOf(host, caller, command.queueId);
  const { rules } = seat.queue;
  if (!mayAdjudicate(rules, seat.reviewer)) {
    const problem = "adjudicating here needs queues:manage, or to be named in the queue's adjudicators";
    throw new AppError("forbidden", { problem });
  }
  requirePerson(seat);
  const contents = annotationsFor(rules, request);
  return changeItem(host, seat, command, async (stored, atMs) => {
    const decide = (annotationIds: readonly string[]) => {
      const judgment = { kind: actorKindOf(caller.kind), value: request.value, annotationIds };
      return adjudicateItem(stored.item, rules, { reviewer: caller.principal, atMs, judgment });
    };
    decide([]);
    const made = await annotations(host, seat, stored, contents, { earlier: [] });
    return { ...made, item: decide(made.ids), audit: noteOf("queue.adjudicate", stored) };
  });
}

function noteOf(action: string, { record: { runId }, item: { round } }: StoredItem) {
  return { action, details: { runId, round } };
}

/** The live annotations of a reviewer's earlier judgments of the item, newest first. */
async function liveOf(host: Host, tenant: string, { item }: StoredItem, reviewer: string): Promise<AnnotationRecord[]> {
  const ids = earlierJudgments(item, reviewer).flatMap(({ annotationIds }) => annotationIds);
  if (ids.length === 0) return [];
  const found = await host.store.annotationsById(tenant, ids);
  const live = found.filter(({ state, actor }) => state === "live" && actor === reviewer);
  return live.sort((a, b) => ids.indexOf(a.annotationId) - ids.indexOf(b.annotationId));
}

interface SideWrites {
  readonly confidence?: number | undefined;
  readonly earlier: readonly AnnotationRecord[];
}

/** The annotations of a judgment. A judgment replaces an earlier one, a correction an earlier correction; one that is not given again is retracted. */
async function annotations(
  host: Host,
  { caller }: Seat,
  { record, about }: StoredItem,
  contents: readonly AnnotationContent[],
  { confidence, earlier }: SideWrites,
): Promise<Pick<ItemChange, "sideWrites"> & { readonly ids: readonly string[] }> {
  const run = await visibleRun(host, caller, record.runId);
  const target = targetOf(about);
  const records = [];
  for (const [i, one] of contents.entries()) {
    const before = earlier.find(({ signal }) => isCorrection(signal) === isCorrection(one.signal));
    const more = defined({ confidence: i === 0 ? confidence : undefined, supersedes: before?.annotationId });
    const request = { ...target, ...one, ...more };
    const annotation = { ...(await annotationOf(host, caller, identityOf(run), request)), queueItemId: record.itemId };
    records.push(defined({ annotation, earlier: before }));
  }
  const replaced = new Set(records.map(({ annotation }) => annotation.supersedes));
  const dropped = earlier.filter((one) => isCorrection(one.signal) && !replaced.has(one.annotationId));
  const recorded = recording(caller, records);
  const withdrawals = dropped.map((one) => withdrawal(one, caller.principal, host.nowMs()));
  const sideWrites = defined({
    annotations: [...(recorded.annotations ?? []), ...withdrawals],
    audit: recorded.audit,
  });
  return { ids: records.map(({ annotation }) => annotation.annotationId), sideWrites };
}

function targetOf({ nodeId, eventId }: StoredItem["about"]): Pick<AnnotateRequest, "target"> {
  if (eventId !== undefined) return { target: { eventId } };
  return nodeId === undefined ? {} : { target: { nodeId } };
}

function isCorrection({ kind }: AnnotationRecord["signal"]): boolean {
  return kind === "correction";
}

function withdrawal(earlier: AnnotationRecord, by: string, atMs: number): AnnotationWrite {
  return { type: "retract", earlier, retraction: { by, atMs, reason: "judged anew in the review queue" } };
}
