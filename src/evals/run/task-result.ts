import { allDocuments, type DocumentReads, eachDocument } from "../../engine/shared/all-documents.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import type { SafetyFinding } from "../../protocol/agents/api.ts";
import { defined } from "../../protocol/defined.ts";
import type { EvalMode } from "../../protocol/evals/eval-suite.ts";
import { isReplay } from "../../protocol/runs/forked-from.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { TaskTrials } from "../../statistics/aggregate.ts";
import type { Document, Documents } from "../../store/port/documents.ts";
import { cut, type Difference } from "../score/difference.ts";
import { outputText } from "../score/output-text.ts";

/**
 * Outcome of one task of an evaluation, with the trials of all its passes, and no text of them: of an evaluation with thousands of trials all
 * outcomes are in memory at once. A pass is the task in one mode (`passesOf`). Score, passed, cost
 * and latency are those of the wire: the lowest score of the passes, passed only where every pass passed, cost of all trials, mean latency of
 * all trials.
 */
export interface TaskOutcome {
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
  readonly trials: readonly TrialOutcome[];
}

/** The outcome with the texts of its trials. Kept as a document; only figures of it are in the log. */
export interface TaskResult extends TaskOutcome {
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

export interface TrialOutcome {
  readonly trial: number;
  /** The mode of its pass. Absent in results of earlier versions, which made one pass for all modes. */
  readonly mode?: EvalMode;
  readonly invocationId: string;
  /** Absent where there was nothing to score. */
  readonly score?: number;
  readonly passed: boolean;
  readonly error?: { readonly code: string };
  /** The number of further attempts after an error. */
  readonly retries: number;
  readonly latencyMs: number;
  readonly costUsd?: number;
  /** Set for the reused result of an earlier trial. */
  readonly cached: boolean;
}

export interface TrialResult extends TrialOutcome {
  readonly error?: { readonly code: string; readonly message: string };
  /** Scrubbed and cut. */
  readonly output?: unknown;
  /** Results of tools, where they were given to a judge; scrubbed and cut. */
  readonly toolResults?: readonly { readonly tool: string; readonly result: unknown }[];
  readonly difference?: Difference;
  readonly criteria?: readonly { readonly criterion: string; readonly met: boolean; readonly evidence: string }[];
}

const DIGITS = 7;

function taskPrefix(runId: string): string {
  return `${runId}/`;
}

/** `place` is that of the task in the plan. */
function taskKey(runId: string, place: number): string {
  return `${taskPrefix(runId)}${String(place).padStart(DIGITS, "0")}`;
}

export function taskDocument(tenant: string, runId: string, place: number, atMs: number, result: TaskResult): Document {
  return {
    tenant,
    kind: "eval-task",
    key: taskKey(runId, place),
    runId,
    revision: 1,
    atMs,
    body: JSON.stringify(result),
  };
}

export function trialsOf({ taskId, bar, findings, trials }: TaskOutcome): TaskTrials {
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

/** The outcome of a result, without its texts. */
export function outcomeOf({ findings, trials, ...task }: TaskResult): TaskOutcome {
  return {
    ...task,
    findings: findings.map(({ note: _, ...finding }) => finding),
    trials: trials.map(({ output: _, toolResults: __, difference: ___, criteria: ____, error, ...trial }) => ({
      ...trial,
      ...(error === undefined ? {} : { error: { code: error.code } }),
    })),
  };
}

/** The outcomes of an evaluation so far, in the order of the suite. */
export function readOutcomes(store: DocumentReads, tenant: string, runId: string): Promise<TaskOutcome[]> {
  return allDocuments(store, tenant, "eval-task", { prefix: taskPrefix(runId) }, (one) => outcomeOf(resultIn(one)));
}

/** The outcomes of a run in mode eval; a replay judged nothing anew, so its outcomes are those of its source. */
export function outcomesOf(store: DocumentReads, run: Run): Promise<TaskOutcome[]> {
  return readOutcomes(store, run.owner.tenant, resultsRunId(run));
}

/** The results of a run in mode eval one by one, in the order of the suite: all of them together may be larger than the memory. */
export async function* eachResult(store: DocumentReads, run: Run): AsyncGenerator<TaskResult, void> {
  const all = { prefix: taskPrefix(resultsRunId(run)) };
  for await (const document of eachDocument(store, run.owner.tenant, "eval-task", all)) yield resultIn(document);
}

/** The result of one task; undefined where it has none yet. `taskIds` are those of the plan. */
export async function resultOfTask(
  store: Pick<Documents, "readDocument">,
  run: Run,
  taskIds: readonly string[],
  taskId: string,
): Promise<TaskResult | undefined> {
  const place = taskIds.indexOf(taskId);
  if (place === -1) return undefined;
  const { tenant } = run.owner;
  const found = await store.readDocument({ tenant, kind: "eval-task", key: taskKey(resultsRunId(run), place) });
  return found && resultIn(found);
}

function resultIn({ body }: Document): TaskResult {
  return JSON.parse(body) as TaskResult;
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
