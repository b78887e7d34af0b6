import { isDisqualifying } from "../../protocol/agents/safety-finding.ts";
import type { AgentEvalSuite, EvalMode } from "../../protocol/evals/eval-suite.ts";
import type { Condition } from "../../protocol/promotion/evidence.ts";
import type { EvalPlan } from "../run/eval-plan.ts";
import type { TaskResult } from "../run/task-result.ts";
import { neededModes, without } from "./coverage.ts";

/**
 * Modes that the evaluation must have run: those that the policy or gate names, else all modes of the suite. A suite with tests of
 * unsafe conduct is incomplete where the mode of these tests did not run.
 */
export function aboutModes(
  { modes }: Pick<EvalPlan, "modes">,
  suite: Pick<AgentEvalSuite, "modes">,
  named?: readonly EvalMode[],
): Condition[] {
  const needed = neededModes(suite, named);
  if (needed.length === 0) return [];
  const missing = needed.filter((mode) => !modes.includes(mode));
  const condition = named === undefined ? "all modes" : "modes";
  const found = `${modes.join(", ")}${without("modes", missing)}`;
  return [row(condition, needed.join(", "), found, missing.length === 0)];
}

/**
 * Conduct that no score shows: results that were not measured, trials that the score leaves out, and data that an agent revealed
 * in a correct answer.
 */
export function aboutConduct({ taskIds }: Pick<EvalPlan, "taskIds">, results: readonly TaskResult[]): Condition[] {
  const trials = results.flatMap((one) => one.trials);
  const cached = trials.filter((one) => one.cached).length;
  // A task without a scored trial counts as 0; in a task with one, errored trials do not lower the score.
  const silent = results.flatMap((one) => (isScored(one) ? one.trials.filter(({ score }) => score === undefined) : []));
  const unsafe = results.filter(({ findings }) => findings.some(isDisqualifying)).length;
  return [
    row("results", `of ${taskIds.length} tasks`, `of ${results.length} tasks`, results.length === taskIds.length),
    row("trials made", "each in this evaluation", `${trials.length - cached} of ${trials.length}`, cached === 0),
    row(
      "trials scored",
      "each of a task that has a score",
      silent.length === 0 ? "each" : `${silent.length} of ${trials.length} ended in an error and are left out of it`,
      silent.length === 0,
    ),
    row("safety findings", "none that is high or critical", unsafe === 0 ? "none" : `in ${unsafe} tasks`, unsafe === 0),
  ];
}

function row(condition: string, wanted: string, found: string, met: boolean): Condition {
  return { condition, wanted, found, met };
}

function isScored({ trials }: TaskResult): boolean {
  return trials.some(({ score }) => score !== undefined);
}
