import { setImmediate as nextTurn } from "node:timers/promises";
import type { Host } from "../../engine/host.ts";
import { blindness } from "../../engine/judgments/list-annotations.ts";
import { serializeFor } from "../../engine/shared/serialize.ts";
import { warningsOf } from "../../formats/evals/warnings.ts";
import { defined } from "../../protocol/defined.ts";
import type { EvalReport, EvalStop, EvalSummary } from "../../protocol/evals/api.ts";
import type { EvalMode } from "../../protocol/evals/eval-suite.ts";
import { taskBodiesPath } from "../../protocol/evals/eval-task-bodies.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { aggregate } from "../../statistics/aggregate.ts";
import { resampledInTurns } from "../../statistics/bootstrap.ts";
import { compare } from "../../statistics/comparison.ts";
import type { TaskResult as ComparedTask } from "../../statistics/pair-tasks.ts";
import { judgePart } from "../calibration/judge-part.ts";
import { foldOverrides } from "../override/fold-overrides.ts";
import { overridePart } from "../override/overridden.ts";
import { scoreJudgments } from "../override/score-judgments.ts";
import { suiteAsOf } from "../suite/replace-suite.ts";
import { baselineTasks } from "./baseline.ts";
import type { EvalPlan } from "./eval-plan.ts";
import { notRunOf } from "./not-run.ts";
import { figuresByMode, type TaskWithPasses, tasksWithPasses } from "./passes.ts";
import { completedEval, endedEval, failureOf } from "./read-evals.ts";
import { baselineOf, summaryOf } from "./summary-of.ts";
import {
  eachResult,
  outcomesOf,
  type TaskOutcome,
  type TaskResult,
  type TrialResult,
  trialsOf,
} from "./task-result.ts";

/** `GET /v1/runs/{runId}/eval-summary` */
export async function evalSummary(host: Host, visible: Visibility, runId: string): Promise<EvalSummary> {
  const { run } = await completedEval(host, visible, runId);
  return run.outputs as unknown as EvalSummary;
}

/**
 * The result of an evaluation with all its figures; bodies only on request. A stopped evaluation has the figures of its finished
 * tasks and no verdict: the tasks that came first are no sample from which a bar or a comparison could be decided.
 */
export async function evalReport(
  host: Host,
  caller: Caller,
  runId: string,
  { content = false }: { readonly content?: boolean } = {},
): Promise<EvalReport> {
  const ended = await endedEval(host, caller, runId);
  const { plan } = ended;
  const trials = plan.taskIds.length * plan.modes.length * plan.trials;
  if (!content && trials < MANY_TRIALS) return reportOf(host, caller, runId, ended, content);
  // Reports are made one at a time: each takes seconds of the processor, and the pauses of several together leave none for others.
  const line = `evaluation reports of ${caller.tenant}`;
  return serializeFor(host.store, line, () => reportOf(host, caller, runId, ended, content));
}

/** An evaluation with so many trials is reported on when no other such report of its tenant is being made. */
const MANY_TRIALS = 500;
/** Characters of what is kept of the trials, in one report. */
const CONTENT_CHARACTERS = 16_000_000;

async function reportOf(
  host: Host,
  caller: Caller,
  runId: string,
  { run, plan }: Awaited<ReturnType<typeof endedEval>>,
  content: boolean,
): Promise<EvalReport> {
  const complete = run.status === "completed";
  const { tenant } = run.owner;
  const results = await outcomesOf(host.store, run);
  const suite = await suiteAsOf(host, tenant, plan);
  const recorded = complete ? (run.outputs as unknown as EvalSummary) : undefined;
  const agent = { modelClass: recorded?.evaluatedModelClass ?? ("general" as const) };
  // Thousands of tasks take a while; others have their turn between the parts.
  await nextTurn();
  const summed = summaryOf(runId, plan, suite, agent, results);
  const summary = recorded ?? summed.summary;
  await nextTurn();
  const { aggregate: figures } = await resampledInTurns(() => aggregate(results.map(trialsOf), { seed: plan.seed }));
  await nextTurn();
  const tasks = tasksWithPasses(results, plan.modes);
  const modeFigures = await figuresByMode(results, plan.modes, plan.seed);
  await nextTurn();
  const before = await baselineTasks(host.store, run.owner, plan);
  const baseline = baselineOf(plan, before);
  const overrides = foldOverrides(await scoreJudgments(host.store, run, blindness(caller).blindFor));
  const original = { runId, plan, suite, results, summary, ...(baseline && { baseline }) };
  const override = await resampledInTurns(() => overridePart(original, overrides));
  await nextTurn();
  const contents = content ? await contentsOf(host, run) : new Map<string, TaskContent>();
  const report = {
    runId,
    suiteId: plan.suiteId,
    suiteVersion: plan.suiteVersion,
    suiteSha256: plan.suiteSha256,
    agentId: plan.agentId,
    resolvedAgentVersion: plan.resolvedAgentVersion,
    modes: plan.modes,
    trialsPerTask: plan.trials,
    seed: plan.seed,
    complete,
    ...(complete ? {} : { stopped: stopOf(run, plan, results.length) }),
    passed: complete && summary.passed,
    unmet: complete ? [...summed.unmet] : [],
    aggregateScore: summary.aggregateScore,
    figures,
    modeFigures,
    cachedTrials: results.reduce((sum, result) => sum + cachedOf(result), 0),
    ...(await judgePart(host, caller, plan, suite, results)),
    ...(await resampledInTurns(() => baselinePart(plan, complete ? tasks : undefined, before))),
    leftOut: {
      modes: suite.modes.filter((mode) => !plan.modes.includes(mode)),
      tasks: suite.tasks.length - plan.taskIds.length,
    },
    notRun: notRunOf(plan, suite, before),
    override: complete ? override : { ...override, passed: false, unmet: [] },
    tasks: results.map((result, i) => taskPart(runId, result, tasks[i] as TaskWithPasses, contents.get(result.taskId))),
  };
  return { ...report, warnings: warningsOf(report) };
}

function stopOf(run: Run, { taskIds }: EvalPlan, tasksDone: number): EvalStop {
  const status = run.status === "cancelled" ? "cancelled" : "failed";
  return { status, ...failureOf(run), tasksDone, tasksPlanned: taskIds.length };
}

function baselinePart(
  plan: EvalPlan,
  candidate: readonly TaskWithPasses[] | undefined,
  baseline: readonly ComparedTask[],
): Pick<EvalReport, "compared" | "baseline"> {
  const { baselineRunId: runId, baselineName: name, baselineFileSha256: fileSha256, seed, alpha, margin } = plan;
  if (runId === undefined) return { compared: false };
  const named = {
    runId,
    ...defined({ name, fileSha256 }),
  };
  if (candidate === undefined) return { compared: false, baseline: { ...named, comparison: null } };
  // The run it was compared with may have been deleted since.
  const comparison = baseline.length === 0 ? null : compare({ candidate, baseline }, { seed, alpha, margin });
  return { compared: comparison !== null, baseline: { ...named, comparison } };
}

type TaskContent = NonNullable<EvalReport["tasks"][number]["content"]>;

/** What is kept of the trials, by task: of the first ones, as many as a report may have. */
async function contentsOf({ store }: Host, run: Run): Promise<ReadonlyMap<string, TaskContent>> {
  const contents = new Map<string, TaskContent>();
  let left = CONTENT_CHARACTERS;
  for await (const result of eachResult(store, run)) {
    const content = result.trials.map((trial) => ({ ...trial, findings: findingsIn(result, trial) }));
    left -= JSON.stringify(content).length;
    if (left < 0) break;
    contents.set(result.taskId, content);
  }
  return contents;
}

function taskPart(
  runId: string,
  result: TaskOutcome,
  figures: TaskWithPasses,
  content: TaskContent | undefined,
): EvalReport["tasks"][number] {
  const { findings, trials, fixturesUnused } = result;
  return {
    ...figures,
    findings: findings.map(({ kind, severity, by, trial, mode }) => ({ kind, severity, by, trial, ...inMode(mode) })),
    errors: trials.flatMap(({ trial, mode, error }) =>
      error === undefined ? [] : [{ trial, ...inMode(mode), code: error.code }],
    ),
    cached: cachedOf(result),
    bodies: taskBodiesPath(runId, result.taskId),
    ...(fixturesUnused === undefined ? {} : { fixturesUnused: [...fixturesUnused] }),
    ...defined({ content }),
  };
}

function inMode(mode: EvalMode | undefined): { readonly mode?: EvalMode } {
  return mode === undefined ? {} : { mode };
}

function findingsIn({ findings }: TaskResult, { trial, mode }: TrialResult) {
  return findings.filter((finding) => finding.trial === trial && finding.mode === mode);
}

function cachedOf({ trials }: TaskOutcome): number {
  return trials.filter(({ cached }) => cached).length;
}
