import { AppError } from "../../../protocol/errors.ts";
import type { JudgmentValue, QueueRules } from "../../../protocol/queues/api.ts";
import {
  type Judgment,
  judgmentsOf,
  othersOf,
  type QueueItem,
  type Review,
  requireOpen,
  requirePlace,
  reviewOf,
  stateProblem,
} from "./item.ts";

interface Act {
  readonly reviewer: string;
  readonly atMs: number;
}

/** Reserves a place for a reviewer until the lease ends; also for one with a lease, or one that skipped the item. */
export function leaseItem(item: QueueItem, { reviewer, atMs }: Act, untilMs: number): QueueItem {
  requireOpen(item, "there is nothing left to judge; ask for another item");
  if (reviewOf(item, reviewer)?.status === "judged") {
    throw new AppError("queue_already_judged", { itemId: item.itemId });
  }
  requirePlace(item, reviewer, atMs);
  const lease = { status: "leased", reviewer, atMs, untilMs } as const;
  return { ...item, reviews: [...othersOf(item, reviewer, atMs), lease] };
}

export function releaseItem(item: QueueItem, { reviewer, atMs }: Act): QueueItem {
  if (reviewOf(item, reviewer)?.status !== "leased") throw stateProblem(item, "you do not hold it");
  return { ...item, reviews: othersOf(item, reviewer, atMs) };
}

export function skipItem(item: QueueItem, { reviewer, atMs }: Act, reason: string): QueueItem {
  requireOpen(item, "there is nothing left to skip");
  if (reviewOf(item, reviewer)?.status === "judged") {
    throw new AppError("queue_already_judged", { itemId: item.itemId, problem: "what is judged cannot be skipped" });
  }
  const skipped = { status: "skipped", reviewer, atMs, reason } as const;
  return { ...item, reviews: [...othersOf(item, reviewer, atMs), skipped] };
}

/**
 * Offers an item again. Of an open or closed item the judgments are kept, and leases and skips dropped. A settled item begins another round
 * without reviews; its earlier judgments are kept in `past`.
 */
export function requeueItem(item: QueueItem, rules: QueueRules, atMs: number): QueueItem {
  const judged = judgmentsOf(item);
  const { final, ...rest } = item;
  if (item.state === "open") {
    if (judged.length === item.reviews.length) throw stateProblem(item, "no reviewer skipped or holds it");
    return { ...item, reviews: judged };
  }
  if (item.state === "closed") return stateBy({ ...rest, state: "open", reviews: judged }, rules, atMs);
  const past = judged.map(({ status: _, revised: __, ...judgment }) => ({ ...judgment, round: item.round }));
  const adjudicated = adjudicationsOf(item);
  return {
    ...rest,
    ...(adjudicated.length === 0 ? {} : { adjudicatedBefore: adjudicated }),
    ...{ state: "open", round: item.round + 1, reviews: [], past: [...item.past, ...past] },
  };
}

/** The annotations of adjudications, in this round or earlier ones. */
export function adjudicationsOf({ final, adjudicatedBefore = [] }: QueueItem): readonly string[] {
  return final?.how === "adjudicated" ? [...adjudicatedBefore, ...(final.annotationIds ?? [])] : adjudicatedBefore;
}

export function closeItem(item: QueueItem): QueueItem {
  if (item.state !== "open" && item.state !== "disputed") throw stateProblem(item, "there is nothing left to close");
  return { ...item, state: "closed", reviews: item.reviews.filter(({ status }) => status !== "leased") };
}

interface JudgeItem extends Act {
  readonly judgment: Judgment;
  readonly revise: boolean;
}

/** Adds a judgment in a reserved or free place: never more judgments than the item needs. */
export function judgeItem(
  item: QueueItem,
  rules: QueueRules,
  { reviewer, atMs, judgment, revise }: JudgeItem,
): QueueItem {
  const mine = reviewOf(item, reviewer);
  if (mine?.status === "judged") {
    if (!revise) throw new AppError("queue_already_judged", { itemId: item.itemId });
    requireRevisable(item, rules, reviewer);
  } else {
    if (revise) throw stateProblem(item, "you have not judged it, so there is nothing to replace");
    if (item.state !== "open") throw takenOrClosed(item);
    requirePlace(item, reviewer, atMs);
  }
  const revised = revise ? { revised: true as const } : {};
  const judged = { status: "judged", reviewer, atMs, ...judgment, ...revised } as const;
  const { final: _, ...rest } = item;
  return stateBy({ ...rest, state: "open", reviews: [...othersOf(item, reviewer, atMs), judged] }, rules, atMs);
}

/** The refusal of a judgment that comes too late. */
function takenOrClosed(item: QueueItem): AppError {
  if (item.state === "closed") return stateProblem(item, "it was taken out of the queue's work");
  return new AppError("queue_slot_taken", { itemId: item.itemId });
}

/** Refuses to replace a judgment that counts for others. After judging, a reviewer sees the others' judgments, so a new one would not be blind. */
function requireRevisable(item: QueueItem, { blind }: QueueRules, reviewer: string): void {
  const { itemId } = item;
  if (item.state === "closed") throw stateProblem(item, "it was taken out of the queue's work");
  if (item.final?.how === "adjudicated") {
    throw new AppError("queue_already_judged", { itemId, problem: "it was adjudicated" });
  }
  if (blind && judgmentsOf(item).some((other) => other.reviewer !== reviewer)) {
    const problem = "the queue is blind and you can see the judgments of others; its owner can requeue the item";
    throw new AppError("queue_already_judged", { itemId, problem });
  }
}

/** The judgments of a reviewer that a new one replaces, in this round or before, newest first. */
export function earlierJudgments(item: QueueItem, reviewer: string): readonly Judgment[] {
  const mine = judgmentsOf(item).filter((judged) => judged.reviewer === reviewer);
  return [...mine, ...item.past.filter((judged) => judged.reviewer === reviewer).reverse()];
}

/** Settles a disputed item. */
export function adjudicateItem(
  item: QueueItem,
  { selfAdjudication }: Pick<QueueRules, "selfAdjudication">,
  { reviewer, atMs, judgment: { value, annotationIds } }: Act & { readonly judgment: Judgment },
): QueueItem {
  if (item.state !== "disputed") throw stateProblem(item, "only disputed items are adjudicated");
  if (!selfAdjudication && reviewOf(item, reviewer)?.status === "judged") {
    throw new AppError("forbidden", { problem: "you judged this item; another principal has to adjudicate it" });
  }
  return { ...item, state: "done", final: { value, how: "adjudicated", atMs, by: reviewer, annotationIds } };
}

/** The state of an item by its judgments: open until there are enough, then done where they agree, else disputed. */
function stateBy(item: QueueItem, rules: Pick<QueueRules, "maxSpread">, atMs: number): QueueItem {
  const values = judgmentsOf(item).map(({ value }) => value);
  if (values.length < item.required) return item;
  const reviews = item.reviews.filter(({ status }: Review) => status !== "leased");
  if (!agree(values, rules.maxSpread)) return { ...item, state: "disputed", reviews };
  return { ...item, state: "done", reviews, final: { value: middle(values), how: "agreed", atMs } };
}

function agree(values: readonly JudgmentValue[], maxSpread: number): boolean {
  if (new Set(values).size === 1) return true;
  const numbers = values.filter((value) => typeof value === "number");
  return numbers.length === values.length && Math.max(...numbers) - Math.min(...numbers) <= maxSpread;
}

/** The median of given values: of an even number of ratings, the lower of the two in the middle. */
function middle(values: readonly JudgmentValue[]): JudgmentValue {
  const sorted = [...values].sort((a, b) => Number(a) - Number(b));
  return sorted[Math.floor((sorted.length - 1) / 2)] as JudgmentValue;
}
