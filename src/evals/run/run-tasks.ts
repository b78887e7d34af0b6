import type { EffectContext } from "../../engine/node-type.ts";
import type { EvalTask } from "../../protocol/eval-suite.ts";
import type { EvalRun } from "./eval-run.ts";
import { runTask } from "./run-task.ts";
import { type TaskResult, taskDocument } from "./task-result.ts";

export type Ended = { readonly type: "all" } | { readonly type: "over-budget"; readonly spentUsd: number | undefined };

/** Tasks that may wait to be written: agents that answer at once are not held up by the disk. */
const UNWRITTEN_MAX = 256;

/**
 * Runs what is left of an evaluation, some tasks at a time. A task is written whole, with its score, or not at all: whoever goes on
 * after a crash runs those again that are not there.
 */
export async function runTasks(
  run: EvalRun,
  tasks: readonly EvalTask[],
  results: Map<string, TaskResult>,
  append: EffectContext["append"],
): Promise<Ended> {
  const left = tasks.map((task, place) => ({ task, place })).filter(({ task }) => !results.has(task.taskId));
  const unwritten = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let overBudget: Ended | undefined = budgetEnd(run, [...results.values()]);
  const work = async (): Promise<void> => {
    for (;;) {
      if (overBudget !== undefined || failures.length > 0) return;
      const next = left.shift();
      if (next === undefined) return;
      const { result, events, documents } = await runTask(run, next.task);
      const { host, owner, runId } = run;
      const document = taskDocument(owner.tenant, runId, next.place, host.nowMs(), result);
      const written = append(events, { documents: [...documents, { type: "put", document }] });
      results.set(result.taskId, result);
      overBudget ??= budgetEnd(run, [...results.values()]);
      const settled: Promise<void> = written
        .catch((error: unknown) => void failures.push(error))
        .finally(() => unwritten.delete(settled));
      unwritten.add(settled);
      if (unwritten.size >= UNWRITTEN_MAX) await Promise.race(unwritten);
    }
  };
  const workers = Array.from({ length: Math.min(run.plan.concurrency, left.length) }, work);
  // All of them: what one of them started must have ended before anybody else takes the run.
  const outcomes = await Promise.allSettled(workers);
  await Promise.all(unwritten);
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  if (failures.length > 0) throw failures[0];
  return overBudget ?? { type: "all" };
}

/** Without a price nobody knows what was spent, and a budget that cannot be kept is over. */
function budgetEnd({ plan }: EvalRun, results: readonly TaskResult[]): Ended | undefined {
  const { budgetUsd } = plan;
  if (budgetUsd === undefined || results.length === plan.taskIds.length) return undefined;
  let spentUsd = 0;
  for (const { costUsd } of results) {
    if (costUsd === undefined) return { type: "over-budget", spentUsd: undefined };
    spentUsd += costUsd;
  }
  return spentUsd > budgetUsd ? { type: "over-budget", spentUsd } : undefined;
}
