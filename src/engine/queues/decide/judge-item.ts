import { AppError } from "../../../protocol/errors.ts";
import type { QueueRules } from "../../../protocol/queues/api.ts";
import type { Act } from "./hold-item.ts";
import { type Judgment, judgmentsOf, othersOf, type QueueItem, requirePlace, reviewOf, stateProblem } from "./item.ts";
import { stateBy } from "./settle-item.ts";

interface JudgeItem extends Act {
  readonly judgment: Judgment;
  readonly revise: boolean;
}

/** Takes a judgment, in a place that was kept for the reviewer or is free: never more of them than the item needs. */
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
  const judged = {
    status: "judged",
    reviewer,
    atMs,
    ...judgment,
    ...(revise ? { revised: true as const } : {}),
  } as const;
  const { final: _, ...rest } = item;
  return stateBy({ ...rest, state: "open", reviews: [...othersOf(item, reviewer, atMs), judged] }, rules, atMs);
}

/** Enough reviewers were faster: for the one who comes late that is the same as a place that is taken. */
function takenOrClosed(item: QueueItem): AppError {
  if (item.state === "closed") return stateProblem(item, "it was taken out of the queue's work");
  return new AppError("queue_slot_taken", { itemId: item.itemId });
}

/** Whoever has judged sees what others said, so that in a blind queue a change after theirs would not be blind. */
function requireRevisable(item: QueueItem, { blind }: QueueRules, reviewer: string): void {
  const { itemId } = item;
  if (item.state === "closed") throw stateProblem(item, "it was taken out of the queue's work");
  if (item.final?.how === "adjudicated")
    throw new AppError("queue_already_judged", { itemId, problem: "it was adjudicated" });
  if (blind && judgmentsOf(item).some((other) => other.reviewer !== reviewer)) {
    const problem = "the queue is blind and you can see what others said; its owner can give the item back";
    throw new AppError("queue_already_judged", { itemId, problem });
  }
}

/** The judgments of a reviewer that a new one takes the place of, in this round or before, newest first. */
export function earlierJudgments(item: QueueItem, reviewer: string): readonly Judgment[] {
  const mine = judgmentsOf(item).filter((judged) => judged.reviewer === reviewer);
  return [...mine, ...item.past.filter((judged) => judged.reviewer === reviewer).reverse()];
}

/** Somebody else's word settles what reviewers do not agree on. */
export function adjudicateItem(
  item: QueueItem,
  { selfAdjudication }: Pick<QueueRules, "selfAdjudication">,
  { reviewer, atMs, judgment: { value, annotationIds } }: Act & { readonly judgment: Judgment },
): QueueItem {
  if (item.state !== "disputed") throw stateProblem(item, "only what reviewers disagree on is adjudicated");
  if (!selfAdjudication && reviewOf(item, reviewer)?.status === "judged") {
    throw new AppError("forbidden", { problem: "you judged this item, so that somebody else has to adjudicate it" });
  }
  return { ...item, state: "done", final: { value, how: "adjudicated", atMs, by: reviewer, annotationIds } };
}
