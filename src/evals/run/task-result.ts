import { allDocuments, type DocumentReads } from "../../engine/shared/all-documents.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import type { SafetyFinding } from "../../protocol/agents/api.ts";
import { defined } from "../../protocol/defined.ts";
import type { EvalMode } from "../../protocol/evals/eval-suite.ts";
import { isReplay } from "../../protocol/runs/forked-from.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { TaskTrials } from "../../statistics/aggregate.ts";
import type { Document } from "../../store/port/documents.ts";
import { cut, type Difference } from "../score/difference.ts";
import { outputText } from "../score/output-text.ts";

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
        ...defined({ mode }),
        latencyMs,
        ...defined({ costUsd }),
      };
      return score === undefined
        ? { error: { code: error?.code ?? "agent_error" }, ...spent }
        : { score, passed, ...spent };
    }),
  };
}

/** The results of an evaluation so far, in the order of the suite. */
export function readResults(store: DocumentReads, tenant: string, runId: string): Promise<TaskResult[]> {
  const all = { prefix: taskPrefix(runId) };
  return allDocuments(store, tenant, "eval-task", all, ({ body }) => JSON.parse(body) as TaskResult);
}

/** The results of a run in mode eval; a replay judged nothing anew, so its results are those of its source. */
export function resultsOf(store: DocumentReads, run: Run): Promise<TaskResult[]> {
  return readResults(store, run.owner.tenant, resultsRunId(run));
}

export function resultsRunId(run: Run): string {
  return isReplay(run) && run.forkedFrom !== undefined ? run.forkedFrom.runId : run.runId;
}

/** In characters: enough to see an error, and ten thousand of them still fit. */
export const KEPT_MAX = 20_000;

/** Secrets are removed before the cut: the beginning of a secret alone is not recognized. */
const LOOK_AHEAD = 4_096;

/** The part of an output that is kept for the analysis of a failure. */
export function keptOutput(output: unknown, scrubber: Scrubber): unknown {
  const text = outputText(output);
  if (text.length <= KEPT_MAX) return scrubber.scrubValue(output);
  return cut(scrubber.scrubText(cut(text, KEPT_MAX + LOOK_AHEAD)), KEPT_MAX);
}
