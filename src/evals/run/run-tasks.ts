import type { EffectContext } from "../../engine/worker/node-type.ts";
import type { EvalTask } from "../../protocol/evals/eval-suite.ts";
import type { DocumentWrite } from "../../store/port/documents.ts";
import { Budget, type Overspent } from "./budget.ts";
import type { EvalRun } from "./eval-run.ts";
import { runTask } from "./run-task.ts";
import { outcomeOf, type TaskOutcome, type TaskResult, taskDocument } from "./task-result.ts";

export type Ended = { readonly type: "all" } | { readonly type: "over-budget"; readonly overspent: Overspent };

/** Tasks that may wait to be written: agents that answer at once are not held up by the disk. */
const UNWRITTEN_MAX = 256;
/** The characters of all of them: a task may have megabytes of outputs. */
const UNWRITTEN_CHARACTERS = 8_000_000;

/**
 * Runs the remaining tasks of an evaluation, some at a time. A task is written whole, with its score, or not at all: after a crash
 * the tasks without a record run again.
 */
export async function runTasks(
  run: EvalRun,
  tasks: readonly EvalTask[],
  results: Map<string, TaskOutcome>,
  append: EffectContext["append"],
): Promise<Ended> {
  const left = tasks.map((task, place) => ({ task, place })).filter(({ task }) => !results.has(task.taskId));
  const unwritten = new Map<Promise<void>, number>();
  const failures: unknown[] = [];
  const budget = new Budget(run.plan.budgetUsd);
  for (const { costUsd } of results.values()) budget.spend(costUsd);
  const work = async (): Promise<void> => {
    for (;;) {
      if (failures.length > 0 || budget.overspent() !== undefined) return;
      const next = left.shift();
      if (next === undefined) return;
      const { result, events, documents } = await runTask(run, next.task, budget);
      const writes = [...documents, ...taskWrites(run, next.place, result)];
      const written = append(events, { documents: writes });
      if (result === undefined) left.unshift(next);
      else results.set(result.taskId, outcomeOf(result));
      const settled: Promise<void> = written
        .catch((error: unknown) => void failures.push(error))
        .finally(() => unwritten.delete(settled));
      unwritten.set(settled, charactersOf(writes));
      while (isTooMuch(unwritten)) await Promise.race(unwritten.keys());
    }
  };
  const workers = Array.from({ length: Math.min(run.plan.concurrency, left.length) }, work);
  // All workers must end before another process can take the run.
  const outcomes = await Promise.allSettled(workers);
  await Promise.all(unwritten.keys());
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  if (failures.length > 0) throw failures[0];
  const overspent = left.length === 0 ? undefined : budget.overspent();
  return overspent === undefined ? { type: "all" } : { type: "over-budget", overspent };
}

function isTooMuch(unwritten: ReadonlyMap<unknown, number>): boolean {
  if (unwritten.size >= UNWRITTEN_MAX) return true;
  let characters = 0;
  for (const one of unwritten.values()) characters += one;
  return unwritten.size > 0 && characters > UNWRITTEN_CHARACTERS;
}

function charactersOf(writes: readonly DocumentWrite[]): number {
  return writes.reduce((sum, write) => sum + ("document" in write ? write.document.body.length : 0), 0);
}

function taskWrites({ host, owner, runId }: EvalRun, place: number, result: TaskResult | undefined): DocumentWrite[] {
  if (result === undefined) return [];
  return [{ type: "put", document: taskDocument(owner.tenant, runId, place, host.nowMs(), result) }];
}
