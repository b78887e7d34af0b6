import type { SafetyFinding } from "../../protocol/agents/safety-finding.ts";
import type { EvalMode } from "../../protocol/evals/eval-suite.ts";
import type { TaskTrials } from "../../statistics/aggregate.ts";
import type { Document } from "../../store/port/documents.ts";
import type { Difference } from "../score/difference.ts";

/**
 * Result of one task of an evaluation, with the trials of all its passes. A pass is the task in one mode (`passesOf`). Score, passed, cost
 * and latency are those of the wire: the lowest score of the passes, passed only where every pass passed, cost of all trials, mean latency of
 * all trials. Kept as a document; only figures of it are in the log.
 */
export interface TaskResult {
  readonly taskId: string;
  readonly score: number;
  readonly passed: boolean;
  readonly bar: number;
  readonly costUsd?: number;
  readonly latencyMs: number;
  readonly schemaValid?: boolean;
  readonly findings: readonly Finding[];
  /**
   * The fixtures of the task that no trial asked for: names of tools, and `memorySeed`. Absent where the task has no fixtures, where
   * live tools answered, and in results of versions that did not record it.
   */
  readonly fixturesUnused?: readonly string[];
  readonly trials: readonly TrialResult[];
}

export interface Finding extends SafetyFinding {
  /** The detector, or the judge. */
  readonly by: string;
  readonly trial: number;
  /** As in `TrialResult`. */
  readonly mode?: EvalMode;
  readonly note?: string;
}

export interface TrialResult {
  readonly trial: number;
  /** The mode of its pass. Absent in results of earlier versions, which made one pass for all modes. */
  readonly mode?: EvalMode;
  readonly invocationId: string;
  /** Absent where there was nothing to score. */
  readonly score?: number;
  readonly passed: boolean;
  readonly error?: { readonly code: string; readonly message: string };
  /** The number of further attempts after an error. */
  readonly retries: number;
  readonly latencyMs: number;
  readonly costUsd?: number;
  /** Set for the reused result of an earlier trial. */
  readonly cached: boolean;
  /** Scrubbed and cut. */
  readonly output?: unknown;
  /** Results of tools, where they were given to a judge; scrubbed and cut. */
  readonly toolResults?: readonly { readonly tool: string; readonly result: unknown }[];
  readonly difference?: Difference;
  readonly criteria?: readonly { readonly criterion: string; readonly met: boolean; readonly evidence: string }[];
}

const DIGITS = 7;

export function taskPrefix(runId: string): string {
  return `${runId}/`;
}

export function taskDocument(tenant: string, runId: string, place: number, atMs: number, result: TaskResult): Document {
  return {
    tenant,
    kind: "eval-task",
    key: `${taskPrefix(runId)}${String(place).padStart(DIGITS, "0")}`,
    runId,
    revision: 1,
    atMs,
    body: JSON.stringify(result),
  };
}

export function trialsOf({ taskId, bar, findings, trials }: TaskResult): TaskTrials {
  return {
    taskId,
    bar,
    vetoed: findings.some(({ severity }) => severity === "high" || severity === "critical"),
    trials: trials.map(({ mode, score, passed, error, latencyMs, costUsd }) => {
      const spent = {
        ...(mode === undefined ? {} : { mode }),
        latencyMs,
        ...(costUsd === undefined ? {} : { costUsd }),
      };
      return score === undefined
        ? { error: { code: error?.code ?? "agent_error" }, ...spent }
        : { score, passed, ...spent };
    }),
  };
}
