import { AppError } from "../../../protocol/errors.ts";
import type { QueueRules } from "../../../protocol/queues/api.ts";
import { judgmentsOf, othersOf, type QueueItem, requireOpen, requirePlace, reviewOf, stateProblem } from "./item.ts";
import { stateBy } from "./settle-item.ts";

export interface Act {
  readonly reviewer: string;
  readonly atMs: number;
}

/** Keeps a place for a reviewer until the lease ends; also one who held it before, or skipped it and came back to it. */
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
 * Offers an item anew. While it is open, or was closed, judgments stay and leases and skips are forgotten. One that was
 * settled begins another round without any; what was judged before is kept beside it.
 */
export function requeueItem(item: QueueItem, rules: QueueRules, atMs: number): QueueItem {
  const judged = judgmentsOf(item);
  const { final, ...rest } = item;
  if (item.state === "open") {
    if (judged.length === item.reviews.length)
      throw stateProblem(item, "nobody skipped or holds it, so it is on offer");
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

/** The annotations that are, or were in an earlier round, the last word on what reviewers disagreed on. */
export function adjudicationsOf({ final, adjudicatedBefore = [] }: QueueItem): readonly string[] {
  return final?.how === "adjudicated" ? [...adjudicatedBefore, ...(final.annotationIds ?? [])] : adjudicatedBefore;
}

export function closeItem(item: QueueItem): QueueItem {
  if (item.state !== "open" && item.state !== "disputed") throw stateProblem(item, "there is nothing left to close");
  return { ...item, state: "closed", reviews: item.reviews.filter(({ status }) => status !== "leased") };
}
