import type { Host } from "../../engine/host.ts";
import type { EvalSummary } from "../../protocol/evals/api.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { baselineTasks } from "../run/baseline-tasks.ts";
import { completedEval, resultsRunId } from "../run/completed-eval.ts";
import { readResults } from "../run/read-results.ts";
import { baselineOf, type Unmet } from "../run/summary-of.ts";
import { suiteAsOf } from "../suite/replace-suite.ts";
import { type Doubted, judgmentsInDoubt } from "./doubted-judgments.ts";
import { foldOverrides } from "./fold-overrides.ts";
import { overriddenSummaryOf } from "./overridden.ts";
import { scoreJudgments } from "./score-judgments.ts";

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
  const results = await readResults(host.store, tenant, resultsRunId(run));
  const suite = await suiteAsOf(host, tenant, `${plan.suiteId}@${plan.suiteVersion}`, plan.suiteSha256);
  const summary = run.outputs as unknown as EvalSummary;
  const judgments = await scoreJudgments(host.store, run);
  const given = new Map(results.map(({ taskId, score }) => [taskId, score]));
  const folded = foldOverrides(doubted === undefined ? judgments : judgmentsInDoubt(judgments, doubted, given));
  const baseline = baselineOf(plan, await baselineTasks(host.store, run.owner, plan));
  const original = { runId, plan, suite, results, summary, ...(baseline === undefined ? {} : { baseline }) };
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
