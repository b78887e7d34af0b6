import { defined } from "../../protocol/defined.ts";
import { isoOf } from "../../protocol/instant.ts";
import type { QueueInfo, QueueItemState, QueueItemView, QueueView } from "../../protocol/queues/api.ts";
import type { ReviewerProgress } from "../../store/port/judgments.ts";
import { type FinalJudgment, isHeld, isJudged, judgmentsOf, type QueueItem, type Review } from "./decide/item.ts";
import type { Queue, StoredItem } from "./queue-records.ts";

export function queueInfo({ record, state, rulesRevision, createdBy, rules }: Queue): QueueInfo {
  const { queueId, workspace, createdAtMs } = record;
  const info = { queueId, workspace, state, revision: rulesRevision, createdAt: isoOf(createdAtMs), createdBy };
  return { ...defined(info), ...rules };
}

interface QueueFigures {
  readonly counts: Partial<Record<QueueItemState, number>>;
  readonly reviewers: readonly ReviewerProgress[];
  readonly filling: boolean;
}

export function queueView(queue: Queue, { counts, reviewers, filling }: QueueFigures): QueueView {
  const { open = 0, disputed = 0, done = 0, closed = 0 } = counts;
  const items = { total: open + disputed + done + closed, open, disputed, done, closed };
  return { ...queueInfo(queue), items, reviewers: [...reviewers], filling };
}

/** The reader of an item. */
export interface Viewer {
  readonly principal: string;
  /** Whether the reader manages the queue without reviewing in it, and so may see all judgments. */
  readonly oversees: boolean;
}

export function itemView({ rules }: Queue, stored: StoredItem, viewer: Viewer, nowMs: number): QueueItemView {
  const { record, about, item } = stored;
  const { itemId, queueId, runId, createdAtMs } = record;
  const { nodeId, eventId, workflowId, agentId, addedBy } = about;
  const mine = item.reviews.find(({ reviewer }) => reviewer === viewer.principal);
  const shown = viewer.oversees || showsOthers(item, rules.blind, viewer.principal);
  return {
    itemId,
    queueId,
    runId,
    ...defined({ nodeId, eventId }),
    workflowId,
    ...defined({ agentId }),
    state: item.state,
    round: item.round,
    required: item.required,
    judged: judgmentsOf(item).length,
    leased: item.reviews.filter((review) => isHeld(review, nowMs)).length,
    ...defined({ addedBy }),
    createdAt: isoOf(createdAtMs),
    mine: mine === undefined ? null : myReview(mine),
    judgments: shown ? judgments(item) : null,
    skips: shown ? skips(item) : null,
    final: item.final === undefined ? null : finalView(item.final),
  };
}

/** Whether a reader sees the judgments of others: in a blind queue only after judging, or once the item needs no more judgments. */
export function showsOthers(item: QueueItem, blind: boolean, principal: string): boolean {
  if (!blind || item.state !== "open") return true;
  return item.reviews.some((review) => review.reviewer === principal && isJudged(review));
}

function judgments(item: QueueItem): NonNullable<QueueItemView["judgments"]> {
  return judgmentsOf(item).map(({ reviewer, kind, value, atMs, annotationIds, revised }) => ({
    reviewer,
    kind,
    value,
    at: isoOf(atMs),
    annotationIds: [...annotationIds],
    ...(revised && { revised }),
  }));
}

function skips({ reviews }: QueueItem): NonNullable<QueueItemView["skips"]> {
  return reviews.flatMap((review) =>
    review.status === "skipped" ? [{ reviewer: review.reviewer, reason: review.reason, at: isoOf(review.atMs) }] : [],
  );
}

function myReview(review: Review): NonNullable<QueueItemView["mine"]> {
  const { status, atMs } = review;
  const common = { status, at: isoOf(atMs) };
  if (review.status === "leased") return { ...common, until: isoOf(review.untilMs) };
  return review.status === "judged" ? { ...common, value: review.value } : { ...common, reason: review.reason };
}

function finalView({ value, how, atMs, by, annotationIds }: FinalJudgment): NonNullable<QueueItemView["final"]> {
  return defined({ value, how, at: isoOf(atMs), by, annotationIds: annotationIds && [...annotationIds] });
}
