import type { JudgmentValue, QueueRules } from "../../../protocol/queues/api.ts";
import { judgmentsOf, type QueueItem, type Review } from "./item.ts";

/** What an item is with the judgments it has: open until there are enough, then done where they agree, else disputed. */
export function stateBy(item: QueueItem, rules: Pick<QueueRules, "maxSpread">, atMs: number): QueueItem {
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

/** Always one that somebody gave: of an even number of ratings, the lower of the two in the middle. */
function middle(values: readonly JudgmentValue[]): JudgmentValue {
  const sorted = [...values].sort((a, b) => Number(a) - Number(b));
  return sorted[Math.floor((sorted.length - 1) / 2)] as JudgmentValue;
}
