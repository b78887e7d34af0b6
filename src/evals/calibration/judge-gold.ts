import type { Usage } from "../../agents/binding.ts";
import type { Judge, JudgeFailure } from "../judge/judge.ts";
import { rubricScore } from "../score/rubric-score.ts";
import { meets } from "../score/task-bar.ts";
import type { JudgedItem } from "../statistics/calibration.ts";
import type { GoldItem } from "./gold-item.ts";

export interface JudgedGold {
  readonly judged: readonly JudgedItem[];
  readonly failures: readonly JudgeFailure[];
}

/** Asks the judge about every output, some at a time. The judge is not told what people said. */
export async function judgeGold(
  judge: Judge,
  items: readonly (GoldItem & { readonly gold: string })[],
  {
    runId,
    concurrency,
    signal,
  }: { readonly runId: string; readonly concurrency: number; readonly signal: AbortSignal },
  used: (usage: readonly Usage[]) => Promise<void>,
): Promise<JudgedGold> {
  const judged: JudgedItem[] = [];
  const failures: JudgeFailure[] = [];
  const left = [...items];
  const work = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) {
      const { itemId, gold, taskId, trial, input, output, toolResults, rubric, bar } = item;
      const question = { runId, taskId, trial, input, output, toolResults, rubric, adversarial: false };
      const answer = await judge.judge(question, signal);
      await used(answer.usage);
      if (answer.type === "failed") {
        failures.push(answer.error);
        continue;
      }
      const score = rubricScore(
        rubric,
        answer.criteria.map(({ met }) => met),
      );
      judged.push({ itemId, gold, judge: meets(score, bar) ? "pass" : "fail" });
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: Math.min(concurrency, left.length) }, work));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  return { judged, failures };
}
