import type { Aggregate, TaskFigures, TaskPassFigures } from "../../protocol/evals/eval-statistics.ts";
import type { EvalMode } from "../../protocol/evals/eval-suite.ts";
import { aggregate, figuresOfTasks, type TaskTrials } from "../../statistics/aggregate.ts";
import { resampledInTurns } from "../../statistics/bootstrap.ts";
import { passesOf } from "./passes.ts";
import { type TaskResult, trialsOf } from "./task-result.ts";

export interface TaskWithPasses extends TaskFigures {
  /** Empty where an earlier version made one pass for several modes. */
  readonly passes: TaskPassFigures[];
}

interface ModePass {
  readonly mode: EvalMode;
  readonly trials: TaskTrials;
}

/** Figures of each task, and of the task in each mode. `modes` are those of the plan. */
export function tasksWithPasses(results: readonly TaskResult[], modes: readonly EvalMode[]): TaskWithPasses[] {
  const byTask = new Map(results.map((result) => [result.taskId, result]));
  return figuresOfTasks(results.map(trialsOf)).map((figures) => {
    const result = byTask.get(figures.taskId);
    const passes = result === undefined ? [] : modePasses(result, modes);
    return {
      ...figures,
      passes: passes.flatMap(({ mode, trials }) => figuresOfTasks([trials]).map((pass) => passFigures(mode, pass))),
    };
  });
}

/** Figures over the tasks of each mode that ran. */
export async function figuresByMode(
  results: readonly TaskResult[],
  modes: readonly EvalMode[],
  seed: number,
): Promise<{ mode: EvalMode; figures: Aggregate }[]> {
  const passes = results.flatMap((result) => modePasses(result, modes));
  const byMode: { mode: EvalMode; figures: Aggregate }[] = [];
  for (const mode of modes) {
    const tasks = passes.filter((pass) => pass.mode === mode).map(({ trials }) => trials);
    if (tasks.length === 0) continue;
    const { aggregate: figures } = await resampledInTurns(() => aggregate(tasks, { seed }));
    byMode.push({ mode, figures });
  }
  return byMode;
}

function modePasses(result: TaskResult, modes: readonly EvalMode[]): ModePass[] {
  return passesOf(result, modes).flatMap(({ mode, findings, trials }) =>
    mode === undefined ? [] : [{ mode, trials: trialsOf({ ...result, findings, trials }) }],
  );
}

function passFigures(mode: EvalMode, figures: TaskFigures): TaskPassFigures {
  const { score, passed, flaky, trials, latencyMs, costUsd } = figures;
  return { mode, score, passed, flaky, trials, latencyMs, costUsd };
}
