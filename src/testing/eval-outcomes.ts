import { quotesOf } from "../evals/run/quotes.ts";
import type { TrialResult } from "../evals/run/task-result.ts";
import { conclude, type Demands } from "../formats/evals/conclusion.ts";
import type { EvalOutcome } from "../formats/evals/eval-outcome.ts";
import { EvalReport } from "../protocol/evals/api.ts";
import { EvalEntry } from "../protocol/evals/baselines.ts";
import { parse } from "../protocol/schema.ts";
import { aggregate } from "../statistics/aggregate.ts";
import { compare } from "../statistics/comparison.ts";

export interface TaskGiven {
  readonly taskId: string;
  readonly trials: readonly Partial<TrialResult>[];
  readonly findings?: EvalReport["tasks"][number]["findings"];
}

export const right = (more: Partial<TrialResult> = {}): Partial<TrialResult> => ({ score: 1, passed: true, ...more });
export const wrong = (more: Partial<TrialResult> = {}): Partial<TrialResult> => ({ score: 0, passed: false, ...more });
export const broken = (code = "agent_crashed", message = "it crashed"): Partial<TrialResult> => ({
  error: { code, message },
});

const HASH = "a".repeat(64);

/** A report as an evaluation of these tasks would have it, figures and all. */
export function reportOf(given: readonly TaskGiven[], more: Partial<EvalReport> = {}): EvalReport {
  const trials = given.map(({ taskId, trials, findings = [] }) => ({
    taskId,
    bar: 1,
    vetoed: findings.some(({ severity }) => severity === "high" || severity === "critical"),
    trials: trials.map(({ score, passed = false, error, latencyMs = 5, costUsd = 0 }) =>
      score === undefined
        ? { error: { code: error?.code ?? "agent_error" }, latencyMs, costUsd }
        : { score, passed, latencyMs, costUsd },
    ),
  }));
  const { tasks, aggregate: figures } = aggregate(trials, { seed: 1 });
  const aggregateScore = tasks.reduce((sum, { score }) => sum + (score ?? 0), 0) / tasks.length;
  const report = {
    runId: "run-1",
    suiteId: "acme.evals.refunds",
    suiteVersion: "1.0.0",
    suiteSha256: HASH,
    agentId: "local.acme.agent",
    resolvedAgentVersion: "1.0.0",
    modes: ["golden"],
    trialsPerTask: given[0]?.trials.length ?? 1,
    seed: 1,
    complete: true,
    passed: aggregateScore >= 0.8,
    unmet: aggregateScore >= 0.8 ? [] : ["score"],
    aggregateScore,
    figures,
    modeFigures: [],
    cachedTrials: given.reduce((sum, one) => sum + one.trials.filter(({ cached }) => cached).length, 0),
    compared: false,
    leftOut: { modes: [], tasks: 0 },
    notRun: [],
    warnings: [],
    override: {
      tasks: [],
      disputed: [],
      aggregateScore,
      passed: aggregateScore >= 0.8,
      unmet: [],
      passedCount: figures.tasks.passed,
      taskCount: tasks.length,
      score: figures.score,
      passRate: figures.passRate,
    },
    tasks: tasks.map((task, i) => ({
      ...task,
      passes: [],
      findings: given[i]?.findings ?? [],
      errors: (given[i]?.trials ?? []).flatMap(({ error }, j) =>
        error === undefined ? [] : [{ trial: j + 1, code: error.code }],
      ),
      cached: (given[i]?.trials ?? []).filter(({ cached }) => cached).length,
      content: (given[i]?.trials ?? []).map((trial, j) => ({ trial: j + 1, passed: false, ...trial })),
    })),
    ...more,
  };
  return parse(EvalReport, report, "report");
}

/** Compared with a baseline of these tasks. */
export function comparedWith(candidate: readonly TaskGiven[], before: readonly TaskGiven[]): EvalReport {
  const [report, baseline] = [reportOf(candidate), reportOf(before)];
  const comparison = compare({ candidate: report.tasks, baseline: baseline.tasks });
  return { ...report, compared: true, baseline: { runId: "run-0", name: "main", comparison } };
}

export function entryOf(more: Partial<EvalEntry> = {}): EvalEntry {
  const entry = {
    runId: "run-1",
    status: "completed",
    suiteId: "acme.evals.refunds",
    suiteVersion: "1.0.0",
    agentId: "local.acme.agent",
    resolvedAgentVersion: "1.0.0",
    modes: ["golden"],
    taskCount: 2,
    trialsPerTask: 1,
    startedAt: "2027-03-01T12:00:00.000Z",
    ...more,
  };
  return parse(EvalEntry, entry, "entry");
}

export function outcomeOf(
  report: EvalReport | undefined,
  demands: Partial<Demands> = {},
  entry = entryOf(),
): EvalOutcome {
  const conclusion = conclude(entry, report, { failOn: [], requireVerdict: false, ...demands });
  return report === undefined ? { entry, conclusion } : { entry, report, conclusion, quotes: quotesOf(report) };
}
