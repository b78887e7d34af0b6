import type { Host } from "../../engine/host.ts";
import { blindness } from "../../engine/list-annotations.ts";
import type { EvalReport, EvalSummary } from "../../protocol/eval-api.ts";
import type { TaskFigures } from "../../protocol/eval-statistics.ts";
import type { Caller, Visibility } from "../../protocol/identity.ts";
import type { Store } from "../../store/store.ts";
import { judgePart } from "../calibration/judge-part.ts";
import { foldOverrides } from "../override/fold-overrides.ts";
import { overridePart } from "../override/overridden.ts";
import { scoreJudgments } from "../override/score-judgments.ts";
import { aggregate } from "../statistics/aggregate.ts";
import { compare } from "../statistics/comparison.ts";
import { suiteAsOf } from "../suite/replace-suite.ts";
import { completedEval, resultsRunId } from "./completed-eval.ts";
import type { EvalPlan } from "./eval-plan.ts";
import { readResults } from "./read-results.ts";
import { summaryOf } from "./summary-of.ts";
import { type TaskResult, trialsOf } from "./task-result.ts";

/** `GET /v1/runs/{runId}/eval-summary` */
export async function evalSummary(host: Host, visible: Visibility, runId: string): Promise<EvalSummary> {
  const { run } = await completedEval(host, visible, runId);
  return run.outputs as unknown as EvalSummary;
}

/** What became of an evaluation, with all its figures; what was said in it only when asked for. */
export async function evalReport(
  host: Host,
  caller: Caller,
  runId: string,
  { content = false }: { readonly content?: boolean } = {},
): Promise<EvalReport> {
  const { run, plan } = await completedEval(host, caller, runId);
  const { tenant } = run.owner;
  const results = await readResults(host.store, tenant, resultsRunId(run));
  const suite = await suiteAsOf(host, tenant, `${plan.suiteId}@${plan.suiteVersion}`, plan.suiteSha256);
  const summary = run.outputs as unknown as EvalSummary;
  const agent = { modelClass: summary.evaluatedModelClass ?? ("general" as const) };
  const { unmet } = summaryOf(runId, plan, suite, agent, results);
  const figures = aggregate(results.map(trialsOf), { seed: plan.seed });
  const said = foldOverrides(await scoreJudgments(host.store, run, blindness(caller).blindFor));
  return {
    runId,
    suiteId: plan.suiteId,
    suiteVersion: plan.suiteVersion,
    suiteSha256: plan.suiteSha256,
    agentId: plan.agentId,
    resolvedAgentVersion: plan.resolvedAgentVersion,
    modes: plan.modes,
    trialsPerTask: plan.trials,
    seed: plan.seed,
    passed: summary.passed,
    unmet: [...unmet],
    aggregateScore: summary.aggregateScore,
    figures: figures.aggregate,
    cachedTrials: results.reduce((sum, result) => sum + cachedOf(result), 0),
    ...(await judgePart(host, caller, plan, suite, results)),
    ...(await baselinePart(host.store, tenant, plan, figures.tasks)),
    override: overridePart({ runId, plan, suite, results, summary }, said),
    tasks: results.map((result, i) => taskPart(result, figures.tasks[i] as TaskFigures, content)),
  };
}

async function baselinePart(store: Store, tenant: string, plan: EvalPlan, candidate: readonly TaskFigures[]) {
  const { baselineRunId: runId, baselineName: name, seed, alpha, margin } = plan;
  if (runId === undefined) return { compared: false };
  const before = await readResults(store, tenant, runId);
  const baseline = aggregate(before.map(trialsOf), { seed }).tasks;
  // The run it was compared with may have been deleted since.
  const comparison = before.length === 0 ? null : compare({ candidate, baseline }, { seed, alpha, margin });
  return { compared: comparison !== null, baseline: { runId, ...(name === undefined ? {} : { name }), comparison } };
}

function taskPart(result: TaskResult, figures: TaskFigures, content: boolean): EvalReport["tasks"][number] {
  const { findings, trials } = result;
  return {
    ...figures,
    findings: findings.map(({ kind, severity, by, trial }) => ({ kind, severity, by, trial })),
    errors: trials.flatMap(({ trial, error }) => (error === undefined ? [] : [{ trial, code: error.code }])),
    cached: cachedOf(result),
    ...(content ? { content: trials.map((trial) => ({ ...trial, findings: findingsIn(result, trial.trial) })) } : {}),
  };
}

function findingsIn({ findings }: TaskResult, trial: number) {
  return findings.filter((finding) => finding.trial === trial);
}

function cachedOf({ trials }: TaskResult): number {
  return trials.filter(({ cached }) => cached).length;
}
