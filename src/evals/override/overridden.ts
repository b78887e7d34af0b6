import type { EvalSummary } from "../../protocol/evals/api.ts";
import type { EvalOverride } from "../../protocol/evals/eval-override.ts";
import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import { meanOverTasks, share } from "../../statistics/rates.ts";
import type { EvalPlan } from "../run/eval-plan.ts";
import { type Baseline, type Summed, type SummedTask, summaryOf } from "../run/summary-of.ts";
import type { TaskResult } from "../run/task-result.ts";
import { taskPasses } from "../score/task-bar.ts";
import type { FoldedOverrides, Override, ScoreJudgment } from "./fold-overrides.ts";

/** An evaluation as it was made, unchanged by judgments about it. */
export interface Original {
  readonly runId: string;
  readonly plan: EvalPlan;
  readonly suite: AgentEvalSuite;
  readonly results: readonly TaskResult[];
  readonly summary: EvalSummary;
  /** Absent where there is none, or nothing of it is kept any more. */
  readonly baseline?: Baseline;
}

/** The summary with the scores of people. Findings stay: no score lets a task pass that has a disqualifying finding. */
export function overriddenSummaryOf(original: Original, { overrides }: FoldedOverrides): Summed {
  const { runId, plan, suite, results, summary, baseline } = original;
  const { evaluatedModelClass: modelClass = "general" } = summary;
  const changed = results.map((result) => withScore(result, overrides.get(result.taskId)));
  return summaryOf(runId, plan, suite, { modelClass }, changed, baseline);
}

/** The overrides of an evaluation, for its report. */
export function overridePart(original: Original, folded: FoldedOverrides): EvalOverride {
  const { results, plan } = original;
  const { overrides, disputes, imported } = folded;
  const { summary, unmet } = overriddenSummaryOf(original, folded);
  // Tasks that could not be scored count as 0 only once a judgment says so, as in the other figures.
  const scored = results
    .filter(({ taskId, trials }) => overrides.has(taskId) || trials.some(({ score }) => score !== undefined))
    .map((result) => withScore(result, overrides.get(result.taskId)));
  return {
    tasks: results.flatMap((result) => {
      const override = overrides.get(result.taskId);
      return override === undefined ? [] : taskPart(result, override);
    }),
    disputed: results.flatMap(({ taskId }) => {
      const raised = disputes.get(taskId) ?? [];
      const [first] = raised;
      return first === undefined ? [] : { taskId, eventId: first.eventId, said: raised.map(disputePart) };
    }),
    imported,
    aggregateScore: summary.aggregateScore,
    passed: summary.passed,
    unmet: [...unmet],
    passedCount: summary.passedCount,
    taskCount: summary.taskCount,
    score: meanOverTasks(
      scored.map(({ score }) => score),
      plan.seed,
    ),
    passRate: share(scored.filter(({ passed }) => passed).length, scored.length),
  };
}

function withScore(result: TaskResult, override: Override | undefined): SummedTask {
  if (override === undefined) return result;
  const { score } = override;
  return { ...result, score, givenScore: score, passed: taskPasses(score, result.bar, result.findings) };
}

function taskPart(result: TaskResult, override: Override): EvalOverride["tasks"][number] {
  const { judgment, history } = override;
  const { score, passed } = withScore(result, override);
  return {
    taskId: result.taskId,
    eventId: judgment.eventId,
    original: { score: result.score, passed: result.passed },
    overridden: { score, passed },
    ...whoOf(judgment),
    adjudicated: judgment.adjudicated,
    history: history.map(({ judgment: one, score: given }) => ({
      ...whoOf(one),
      kind: one.signal.kind === "rating" ? "rating" : "label",
      score: given,
      state: one.state,
      adjudicated: one.adjudicated,
      counts: one.annotationId === judgment.annotationId,
    })),
  };
}

function disputePart(judgment: ScoreJudgment): EvalOverride["disputed"][number]["said"][number] {
  return { ...whoOf(judgment), kind: judgment.signal.kind === "flag" ? "flag" : "correction" };
}

function whoOf({ annotationId, by, atMs }: ScoreJudgment) {
  return { annotationId, by, at: new Date(atMs).toISOString() };
}
