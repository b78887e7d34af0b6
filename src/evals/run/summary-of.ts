import type { InstalledAgent } from "../../agents/installed-agent.ts";
import type { EvalSummary } from "../../protocol/eval-api.ts";
import type { Aggregate } from "../../protocol/eval-statistics.ts";
import type { AgentEvalSuite } from "../../protocol/eval-suite.ts";
import { DEFAULT_PASS_SCORE, meets } from "../score/task-bar.ts";
import { aggregate } from "../statistics/aggregate.ts";
import type { EvalPlan } from "./eval-plan.ts";
import { type TaskResult, trialsOf } from "./task-result.ts";

export interface Baseline {
  readonly runId: string;
  readonly aggregateScore: number;
}

/** Why the suite's bar is not met; empty when it is. */
export type Unmet = "score" | "cost" | "cost_unknown" | "latency";

export interface Summed {
  readonly summary: EvalSummary;
  readonly aggregate: Aggregate;
  readonly unmet: readonly Unmet[];
}

/** What an evaluation came to, of figures only. `runId` is that of the evaluation. */
export function summaryOf(
  runId: string,
  plan: EvalPlan,
  suite: AgentEvalSuite,
  agent: Pick<InstalledAgent, "modelClass">,
  results: readonly TaskResult[],
  baseline?: Baseline,
): Summed {
  const figures = aggregate(results.map(trialsOf), { seed: plan.seed }).aggregate;
  const aggregateScore = mean(results.map(({ score }) => score));
  const costs = results.map(({ costUsd }) => costUsd);
  const totalCostUsd = costs.includes(undefined) ? undefined : sum(costs as number[]);
  const unmet = unmetOf(suite, aggregateScore, totalCostUsd, figures);
  return {
    aggregate: figures,
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
      ...(totalCostUsd === undefined ? {} : { totalCostUsd }),
      ...(baseline === undefined ? {} : { regression: regressionOf(runId, aggregateScore, baseline) }),
    },
  };
}

function unmetOf(
  { thresholds = {} }: AgentEvalSuite,
  score: number,
  costUsd: number | undefined,
  { latency }: Aggregate,
): Unmet[] {
  const { passScore = DEFAULT_PASS_SCORE, maxCostUsd, maxP95LatencyMs } = thresholds;
  const unmet: Unmet[] = [];
  if (!meets(score, passScore)) unmet.push("score");
  if (maxCostUsd !== undefined && costUsd === undefined) unmet.push("cost_unknown");
  if (maxCostUsd !== undefined && costUsd !== undefined && costUsd > maxCostUsd) unmet.push("cost");
  if (maxP95LatencyMs !== undefined && (latency.p95Ms ?? 0) > maxP95LatencyMs) unmet.push("latency");
  return unmet;
}

function taskOf({ taskId, score, passed, costUsd, latencyMs, schemaValid, findings }: TaskResult) {
  return {
    taskId,
    score,
    passed,
    ...(costUsd === undefined ? {} : { costUsd }),
    latencyMs,
    ...(schemaValid === undefined ? {} : { schemaValid }),
    safetyFindings: findings.map(({ kind, severity }) => ({ kind, severity })),
  };
}

function regressionOf(
  runId: string,
  aggregateScore: number,
  { runId: baselineRunId, aggregateScore: before }: Baseline,
) {
  const scoreDelta = aggregateScore - before;
  return { baselineRunId, scoreDelta, diffRef: `/v1/runs/${runId}:diff?against=${baselineRunId}` };
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : Math.min(1, sum(values) / values.length);
}

function sum(values: readonly number[]): number {
  // To the billionth: three times 0.1 is 0.3.
  return Math.round(values.reduce((total, value) => total + value, 0) * 1e9) / 1e9;
}
