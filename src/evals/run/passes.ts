import { totalCost } from "../../agents/invocation-events.ts";
import { defined } from "../../protocol/defined.ts";
import type { Aggregate, TaskFigures, TaskPassFigures } from "../../protocol/evals/eval-statistics.ts";
import type { EvalMode } from "../../protocol/evals/eval-suite.ts";
import { aggregate, figuresOfTasks, type TaskTrials } from "../../statistics/aggregate.ts";
import { resampledInTurns } from "../../statistics/bootstrap.ts";
import { taskPasses } from "../score/task-bar.ts";
import { type Finding, type TaskOutcome, type TrialOutcome, trialsOf } from "./task-result.ts";

/** A task in one mode: its own trials, surroundings and score. */
export interface PassResult {
  /** Absent where an earlier version made one pass for several modes. */
  readonly mode?: EvalMode;
  /** Mean of its scored trials; 0 where none could be scored. */
  readonly score: number;
  readonly passed: boolean;
  readonly costUsd?: number;
  readonly latencyMs: number;
  readonly findings: readonly Finding[];
  readonly trials: readonly TrialOutcome[];
}

type Recorded = Pick<TaskOutcome, "bar" | "findings" | "trials">;

/**
 * The passes of a task, in the order they were made. `modes` are those of the plan: a result of an earlier version has no mode in its trials,
 * and is a pass of that mode if the plan had only one.
 */
export function passesOf({ bar, findings, trials }: Recorded, modes: readonly EvalMode[]): PassResult[] {
  const [only, ...others] = modes;
  const known = (mode: EvalMode | undefined) => mode ?? (others.length === 0 ? only : undefined);
  const passModes = [...new Set(trials.map(({ mode }) => known(mode)))];
  return passModes.map((mode) =>
    passOf(
      mode,
      bar,
      findings.filter((one) => known(one.mode) === mode),
      trials.filter((one) => known(one.mode) === mode),
    ),
  );
}

function passOf(
  mode: EvalMode | undefined,
  bar: number,
  findings: readonly Finding[],
  trials: readonly TrialOutcome[],
): PassResult {
  const scores = trials.flatMap(({ score }) => score ?? []);
  const score = scores.length === 0 ? 0 : scores.reduce((sum, one) => sum + one, 0) / scores.length;
  const costUsd = totalCost(trials);
  return {
    ...defined({ mode }),
    score,
    passed: scores.length > 0 && taskPasses(score, bar, findings),
    ...defined({ costUsd }),
    latencyMs: Math.round(trials.reduce((sum, { latencyMs }) => sum + latencyMs, 0) / trials.length),
    findings,
    trials,
  };
}

export interface TaskWithPasses extends TaskFigures {
  /** Empty where an earlier version made one pass for several modes. */
  readonly passes: TaskPassFigures[];
}

interface ModePass {
  readonly mode: EvalMode;
  readonly trials: TaskTrials;
}

/** Figures of each task, and of the task in each mode. `modes` are those of the plan. */
export function tasksWithPasses(results: readonly TaskOutcome[], modes: readonly EvalMode[]): TaskWithPasses[] {
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
  results: readonly TaskOutcome[],
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

function modePasses(result: TaskOutcome, modes: readonly EvalMode[]): ModePass[] {
  return passesOf(result, modes).flatMap(({ mode, findings, trials }) =>
    mode === undefined ? [] : [{ mode, trials: trialsOf({ ...result, findings, trials }) }],
  );
}

function passFigures(mode: EvalMode, figures: TaskFigures): TaskPassFigures {
  const { score, passed, flaky, trials, latencyMs, costUsd } = figures;
  return { mode, score, passed, flaky, trials, latencyMs, costUsd };
}
