import type { InstalledAgent } from "../../agents/agents.ts";
import { totalCost } from "../../agents/invocation-events.ts";
import { defined } from "../../protocol/defined.ts";
import type { EvalSummary } from "../../protocol/evals/api.ts";
import type { Aggregate } from "../../protocol/evals/eval-statistics.ts";
import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import { latencyOf } from "../../statistics/aggregate.ts";
import { type TaskResult as ComparedTask, sharedDelta } from "../../statistics/pair-tasks.ts";
import { DEFAULT_PASS_SCORE, meets } from "../score/task-bar.ts";
import type { EvalPlan } from "./eval-plan.ts";
import { passesOf } from "./passes.ts";
import { type TaskOutcome, trialsOf } from "./task-result.ts";

export interface Baseline {
  readonly runId: string;
  readonly tasks: readonly ComparedTask[];
  /** Set for an imported evaluation, whose run is not on this host. */
  readonly isElsewhere?: boolean;
}

/** The baseline of a plan, with its tasks; undefined where nothing of it is kept any more. */
export function baselineOf(plan: EvalPlan, tasks: readonly ComparedTask[]): Baseline | undefined {
  const { baselineRunId: runId, baselineFileSha256 } = plan;
  if (runId === undefined || tasks.length === 0) return undefined;
  return { runId, tasks, isElsewhere: baselineFileSha256 !== undefined };
}

/** Why the suite's bar is not met; empty when it is. */
export type Unmet = "score" | "cost" | "cost_unknown" | "latency";

export interface Summed {
  readonly summary: EvalSummary;
  readonly unmet: readonly Unmet[];
}

/** A person's score of a task counts for the task in every mode. */
export type SummedTask = TaskOutcome & { readonly givenScore?: number };

/** The figures of an evaluation. `runId` is that of the evaluation. */
export function summaryOf(
  runId: string,
  plan: EvalPlan,
  suite: AgentEvalSuite,
  agent: Pick<InstalledAgent, "modelClass">,
  results: readonly SummedTask[],
  baseline?: Baseline,
): Summed {
  const latency = latencyOf(results.flatMap((result) => trialsOf(result).trials));
  const aggregateScore = mean(results.map(({ score }) => score));
  const paid = totalCost(results);
  const totalCostUsd = paid === undefined ? undefined : tidy(paid);
  const unmet = unmetOf(suite, aggregateScore, totalCostUsd, latency, results.some(isAnswered));
  return {
    unmet,
    summary: {
      suiteId: plan.suiteId,
      suiteVersion: plan.suiteVersion,
      aggregateScore,
      passed: unmet.length === 0,
      taskCount: results.length,
      passedCount: results.filter(({ passed }) => passed).length,
      tasks: results.map(taskOf),
      evaluatedModelClass: agent.modelClass,
      ...defined({ totalCostUsd }),
      ...(baseline === undefined
        ? {}
        : regressionPart(
            runId,
            results.map((one) => comparedTask(one, plan)),
            baseline,
          )),
    },
  };
}

function unmetOf(
  { thresholds = {} }: AgentEvalSuite,
  score: number,
  costUsd: number | undefined,
  latency: Aggregate["latency"],
  isAnswered: boolean,
): Unmet[] {
  const { passScore = DEFAULT_PASS_SCORE, maxCostUsd, maxP95LatencyMs } = thresholds;
  const unmet: Unmet[] = [];
  // A bar of 0 is not met by an agent that never answered.
  if (!isAnswered || !meets(score, passScore)) unmet.push("score");
  if (maxCostUsd !== undefined && costUsd === undefined) unmet.push("cost_unknown");
  if (maxCostUsd !== undefined && costUsd !== undefined && costUsd > maxCostUsd) unmet.push("cost");
  if (maxP95LatencyMs !== undefined && (latency.p95Ms ?? 0) > maxP95LatencyMs) unmet.push("latency");
  return unmet;
}

/** A person may have given a score where the agent gave no answer. */
function isAnswered({ score, trials }: TaskOutcome): boolean {
  return score > 0 || trials.some((trial) => trial.score !== undefined);
}

function taskOf({ taskId, score, passed, costUsd, latencyMs, schemaValid, findings }: TaskOutcome) {
  return {
    taskId,
    score,
    passed,
    ...defined({ costUsd }),
    latencyMs,
    ...defined({ schemaValid }),
    safetyFindings: findings.map(({ kind, severity }) => ({ kind, severity })),
  };
}

function comparedTask({ taskId, score, passed, givenScore, ...result }: SummedTask, { modes }: EvalPlan): ComparedTask {
  if (givenScore !== undefined) return { taskId, score: givenScore, passed };
  const passes = passesOf(result, modes).flatMap(({ mode, ...pass }) =>
    mode === undefined ? [] : [{ mode, ...pass }],
  );
  return { taskId, score, passed, passes };
}

/** Over the tasks and modes that both have; absent where there are none. */
function regressionPart(
  runId: string,
  candidate: readonly ComparedTask[],
  { runId: baselineRunId, tasks, isElsewhere = false }: Baseline,
): Pick<EvalSummary, "regression"> {
  const scoreDelta = sharedDelta(candidate, tasks);
  if (scoreDelta === null) return {};
  if (isElsewhere) return { regression: { baselineRunId, scoreDelta } };
  return { regression: { baselineRunId, scoreDelta, diffRef: `/v1/runs/${runId}:diff?against=${baselineRunId}` } };
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : Math.min(1, tidy(values.reduce((total, value) => total + value, 0)) / values.length);
}

/** Rounded to the billionth: three times 0.1 is 0.3. */
function tidy(sum: number): number {
  return Math.round(sum * 1e9) / 1e9;
}
