import { totalCost } from "../../agents/invocation-events.ts";
import type { JudgedItem } from "../../statistics/calibration.ts";
import type { Judge, JudgeFailure } from "../judge/judge.ts";
import { Budget, type Overspent } from "../run/budget.ts";
import { rubricScore } from "../score/rubric-score.ts";
import { meets } from "../score/task-bar.ts";
import type { GoldItem } from "./gold-item.ts";
import type { KeptVerdict } from "./kept-verdicts.ts";

type Gold = GoldItem & { readonly gold: string };

/** Both lists are in the order of the outputs, in whichever order the judge answered. */
export interface JudgedGold {
  readonly judged: readonly JudgedItem[];
  readonly failures: readonly JudgeFailure[];
  /** Set when the budget ended before all outputs had a verdict. */
  readonly overspent?: Overspent;
}

export interface Judging {
  readonly runId: string;
  readonly concurrency: number;
  readonly budgetUsd?: number | undefined;
  readonly signal: AbortSignal;
}

/**
 * Asks the judge about every output without a verdict, some at a time. The judge does not see the labels of people. `verdicts` are
 * those of earlier attempts; `keep` makes one more durable.
 */
export async function judgeGold(
  judge: Judge,
  items: readonly Gold[],
  { runId, concurrency, budgetUsd, signal }: Judging,
  verdicts: Map<string, KeptVerdict>,
  keep: (verdict: KeptVerdict) => Promise<void>,
): Promise<JudgedGold> {
  const budget = new Budget(budgetUsd);
  for (const { usage } of verdicts.values()) budget.spend(totalCost(usage));
  const left = items.filter(({ itemId }) => !verdicts.has(itemId));
  const work = async (): Promise<void> => {
    while (left.length > 0 && budget.overspent() === undefined) {
      const item = left.shift() as Gold;
      const verdict = await asked(judge, runId, item, signal);
      budget.spend(totalCost(verdict.usage));
      await keep(verdict);
      verdicts.set(item.itemId, verdict);
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: Math.min(concurrency, left.length) }, work));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  const overspent = left.length === 0 ? undefined : budget.overspent();
  return { ...compared(items, verdicts), ...(overspent === undefined ? {} : { overspent }) };
}

async function asked(judge: Judge, runId: string, item: Gold, signal: AbortSignal): Promise<KeptVerdict> {
  const { itemId, taskId, trial, input, output, toolResults, rubric, bar } = item;
  const question = { runId, taskId, trial, input, output, toolResults, rubric, adversarial: false };
  const answer = await judge.judge(question, signal);
  const { usage } = answer;
  if (answer.type === "failed") return { itemId, failure: answer.error, usage };
  const score = rubricScore(
    rubric,
    answer.criteria.map(({ met }) => met),
  );
  return { itemId, verdict: meets(score, bar) ? "pass" : "fail", usage };
}

function compared(items: readonly Gold[], verdicts: ReadonlyMap<string, KeptVerdict>) {
  const judged: JudgedItem[] = [];
  const failures: JudgeFailure[] = [];
  for (const { itemId, gold } of items) {
    const { verdict, failure } = verdicts.get(itemId) ?? {};
    if (verdict !== undefined) judged.push({ itemId, gold, judge: verdict });
    else if (failure !== undefined) failures.push(failure);
  }
  return { judged, failures };
}
