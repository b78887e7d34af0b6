import type { EvalReport } from "../../protocol/evals/api.ts";
import { figure } from "./eval-outcome.ts";

/** People's judgments of a task, next to its original score, which stays; empty where there are none. */
export function overrideMarks({ override }: EvalReport, taskId: string): Readonly<Record<string, string>> {
  const given = override.tasks.find((task) => task.taskId === taskId)?.overridden;
  const isDisputed = override.disputed.some((task) => task.taskId === taskId);
  return {
    ...(given === undefined ? {} : { overriddenScore: figure(given.score), overriddenPassed: String(given.passed) }),
    ...(isDisputed ? { disputed: "true" } : {}),
  };
}

/** The same of the evaluation as a whole. */
export function overrideTotals({ override }: EvalReport): Readonly<Record<string, string>> {
  const { tasks, disputed, aggregateScore, passed } = override;
  return {
    ...(tasks.length === 0
      ? {}
      : {
          overriddenTasks: String(tasks.length),
          overriddenScore: figure(aggregateScore),
          overriddenPassed: String(passed),
        }),
    ...(disputed.length === 0 ? {} : { disputedTasks: String(disputed.length) }),
  };
}
