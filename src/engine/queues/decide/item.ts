import { AppError } from "../../../protocol/errors.ts";
import type { ActorKind } from "../../../protocol/judgments/annotation.ts";
import type { JudgmentValue, QueueItemState } from "../../../protocol/queues/api.ts";

/** An item of a review queue. Each reviewer appears once in `reviews`. */
export interface QueueItem {
  readonly itemId: string;
  readonly state: QueueItemState;
  /** The number of judgments that it needs. */
  readonly required: number;
  readonly round: number;
  readonly reviews: readonly Review[];
  /** Judgments of earlier rounds. */
  readonly past: readonly PastJudgment[];
  readonly final?: FinalJudgment;
  /** The annotations of adjudications in earlier rounds: a new round retracts none of them. */
  readonly adjudicatedBefore?: readonly string[];
}

export type Review = Lease | Judged | Skipped;

interface Reviewed {
  readonly reviewer: string;
  readonly atMs: number;
}
interface Lease extends Reviewed {
  readonly status: "leased";
  readonly untilMs: number;
}
export interface Judged extends Reviewed, Judgment {
  readonly status: "judged";
  readonly revised?: true;
}
interface Skipped extends Reviewed {
  readonly status: "skipped";
  readonly reason: string;
}

export interface Judgment {
  readonly kind: ActorKind;
  readonly value: JudgmentValue;
  /** The judgment itself first, then a correction where there is one. */
  readonly annotationIds: readonly string[];
}
interface PastJudgment extends Judgment, Reviewed {
  readonly round: number;
}

export interface FinalJudgment {
  readonly value: JudgmentValue;
  readonly how: "agreed" | "adjudicated";
  readonly atMs: number;
  readonly by?: string;
  readonly annotationIds?: readonly string[];
}

export function isJudged(review: Review): review is Judged {
  return review.status === "judged";
}

export function judgmentsOf({ reviews }: Pick<QueueItem, "reviews">): readonly Judged[] {
  return reviews.filter(isJudged);
}

/** The annotations of an item: those of earlier rounds, then those of this round. */
export function annotationIdsOf(item: QueueItem): string[] {
  const judgments = [...item.past, ...judgmentsOf(item)].flatMap(({ annotationIds }) => annotationIds);
  return [...(item.adjudicatedBefore ?? []), ...judgments];
}

/** Whether a lease has not ended: it keeps its place until then. */
export function isHeld(review: Review, nowMs: number): review is Lease {
  return review.status === "leased" && review.untilMs > nowMs;
}

export function reviewOf({ reviews }: Pick<QueueItem, "reviews">, reviewer: string): Review | undefined {
  return reviews.find((review) => review.reviewer === reviewer);
}

/** The reviews of others, without ended leases. */
export function othersOf({ reviews }: QueueItem, reviewer: string, nowMs: number): Review[] {
  return reviews.filter((one) => one.reviewer !== reviewer && (one.status !== "leased" || isHeld(one, nowMs)));
}

/** Throws where the item has no place for another reviewer. */
export function requirePlace(item: QueueItem, reviewer: string, nowMs: number): void {
  const others = othersOf(item, reviewer, nowMs).filter(({ status }) => status !== "skipped");
  if (others.length >= item.required) throw new AppError("queue_slot_taken", { itemId: item.itemId });
}

export function requireOpen(item: QueueItem, problem: string): void {
  if (item.state !== "open") throw stateProblem(item, problem);
}

export function stateProblem({ itemId, state }: QueueItem, problem: string): AppError {
  return new AppError("queue_item_state", { itemId, state, problem });
}
