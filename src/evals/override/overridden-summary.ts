import type { Host } from "../../engine/host.ts";
import type { EvalSummary } from "../../protocol/eval-api.ts";
import type { Visibility } from "../../protocol/identity.ts";
import { baselineTasks } from "../run/baseline-tasks.ts";
import { completedEval, resultsRunId } from "../run/completed-eval.ts";
import { readResults } from "../run/read-results.ts";
import { baselineOf, type Unmet } from "../run/summary-of.ts";
import { suiteAsOf } from "../suite/replace-suite.ts";
import { foldOverrides, type ScoreJudgment } from "./fold-overrides.ts";
import { overriddenSummaryOf } from "./overridden.ts";
import { scoreJudgments } from "./score-judgments.ts";

/** An evaluation as it was, and as people see it. */
export interface OverriddenSummary {
  readonly original: EvalSummary;
  /** The same as the original where nobody gave another score. */
  readonly overridden: EvalSummary;
  /** Why the bar of the suite is not met with the scores of people; empty when it is. */
  readonly unmet: readonly Unmet[];
  /** The tasks whose score is somebody's. */
  readonly overriddenTasks: readonly string[];
  /** Tasks that somebody finds wrong without giving a score. */
  readonly disputedTasks: readonly string[];
}

/** The judgments as they would be without these people: without what they said, and with what they withdrew of others. */
function judgmentsWithout(judgments: readonly ScoreJudgment[], people: readonly string[]): ScoreJudgment[] {
  return judgments
    .filter(({ by }) => !people.includes(by))
    .map((one) =>
      one.retractedBy !== undefined && people.includes(one.retractedBy) ? { ...one, state: "live" as const } : one,
    );
}

/** For decisions that may rest on the scores of people, with or without those of some of them. Throws like `evalSummary`. */
export async function overriddenSummary(
  host: Host,
  visible: Visibility,
  runId: string,
  without: readonly string[] = [],
): Promise<OverriddenSummary> {
  const { run, plan } = await completedEval(host, visible, runId);
  const { tenant } = run.owner;
  const results = await readResults(host.store, tenant, resultsRunId(run));
  const suite = await suiteAsOf(host, tenant, `${plan.suiteId}@${plan.suiteVersion}`, plan.suiteSha256);
  const summary = run.outputs as unknown as EvalSummary;
  const judgments = await scoreJudgments(host.store, run);
  const folded = foldOverrides(judgmentsWithout(judgments, without));
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
