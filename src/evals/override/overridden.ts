import type { Host } from "../../engine/host.ts";
import { defined } from "../../protocol/defined.ts";
import type { EvalSummary } from "../../protocol/evals/api.ts";
import type { EvalOverride } from "../../protocol/evals/eval-override.ts";
import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { meanOverTasks, share } from "../../statistics/rates.ts";
import { baselineTasks } from "../run/baseline.ts";
import type { EvalPlan } from "../run/eval-plan.ts";
import { completedEval } from "../run/read-evals.ts";
import { type Baseline, baselineOf, type Summed, type SummedTask, summaryOf, type Unmet } from "../run/summary-of.ts";
import { outcomesOf, type TaskOutcome } from "../run/task-result.ts";
import { taskPasses } from "../score/task-bar.ts";
import { suiteAsOf } from "../suite/replace-suite.ts";
import {
  type Doubted,
  type FoldedOverrides,
  foldOverrides,
  judgmentsInDoubt,
  type Override,
  type ScoreJudgment,
} from "./fold-overrides.ts";
import { scoreJudgments } from "./score-judgments.ts";

/** An evaluation as it was made, unchanged by judgments about it. */
export interface Original {
  readonly runId: string;
  readonly plan: EvalPlan;
  readonly suite: AgentEvalSuite;
  readonly results: readonly TaskOutcome[];
  readonly summary: EvalSummary;
  /** Absent where there is none, or nothing of it is kept any more. */
  readonly baseline?: Baseline;
}

/** The summary with the scores of people. Findings stay: no score lets a task pass that has a disqualifying finding. */
function overriddenSummaryOf(original: Original, { overrides }: FoldedOverrides): Summed {
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

function withScore(result: TaskOutcome, override: Override | undefined): SummedTask {
  if (override === undefined) return result;
  const { score } = override;
  return { ...result, score, givenScore: score, passed: taskPasses(score, result.bar, result.findings) };
}

function taskPart(result: TaskOutcome, override: Override): EvalOverride["tasks"][number] {
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

/** An evaluation as it was, and as people see it. */
export interface OverriddenSummary {
  readonly original: EvalSummary;
  /** Equal to the original where no judgment gives another score. */
  readonly overridden: EvalSummary;
  /** Why the bar of the suite is not met with the scores of people; empty when it is. */
  readonly unmet: readonly Unmet[];
  /** Tasks whose score was overridden by a judgment. */
  readonly overriddenTasks: readonly string[];
  /** Tasks that a judgment calls wrong without giving a score. */
  readonly disputedTasks: readonly string[];
}

/**
 * For decisions that may rest on the scores of people; scores of doubted people can only lower the result. Throws like
 * `evalSummary`.
 */
export async function overriddenSummary(
  host: Host,
  visible: Visibility,
  runId: string,
  doubted?: Doubted,
): Promise<OverriddenSummary> {
  const { run, plan } = await completedEval(host, visible, runId);
  const { tenant } = run.owner;
  const results = await outcomesOf(host.store, run);
  const suite = await suiteAsOf(host, tenant, plan);
  const summary = run.outputs as unknown as EvalSummary;
  const judgments = await scoreJudgments(host.store, run);
  const given = new Map(results.map(({ taskId, score }) => [taskId, score]));
  const folded = foldOverrides(doubted === undefined ? judgments : judgmentsInDoubt(judgments, doubted, given));
  const baseline = baselineOf(plan, await baselineTasks(host.store, run.owner, plan));
  const original = { runId, plan, suite, results, summary, ...defined({ baseline }) };
  const inOrder = (tasks: ReadonlyMap<string, unknown>) =>
    results.flatMap(({ taskId }) => (tasks.has(taskId) ? [taskId] : []));
  const { summary: overridden, unmet } = overriddenSummaryOf(original, folded);
  return {
    original: summary,
    overridden,
    unmet,
    overriddenTasks: inOrder(folded.overrides),
    disputedTasks: inOrder(folded.disputes),
  };
}
