import { totalCost } from "../../agents/invocation-events.ts";
import type { EvalMode } from "../../protocol/evals/eval-suite.ts";
import { taskPasses } from "../score/task-bar.ts";
import type { Finding, TaskResult, TrialResult } from "./task-result.ts";

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
  readonly trials: readonly TrialResult[];
}

type Recorded = Pick<TaskResult, "bar" | "findings" | "trials">;

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
  trials: readonly TrialResult[],
): PassResult {
  const scores = trials.flatMap(({ score }) => score ?? []);
  const score = scores.length === 0 ? 0 : scores.reduce((sum, one) => sum + one, 0) / scores.length;
  const costUsd = totalCost(trials);
  return {
    ...(mode === undefined ? {} : { mode }),
    score,
    passed: scores.length > 0 && taskPasses(score, bar, findings),
    ...(costUsd === undefined ? {} : { costUsd }),
    latencyMs: Math.round(trials.reduce((sum, { latencyMs }) => sum + latencyMs, 0) / trials.length),
    findings,
    trials,
  };
}
