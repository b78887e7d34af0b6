/** What `@assay/sdk/eval` exports: suites of tasks in code, and running them on a host or in this process. */
import { conclude } from "../formats/evals/conclusion.ts";
import type { Client } from "./client.ts";
import { ApiError } from "./errors.ts";
import { backOff, sleep } from "./request.ts";

/** A suite as hosts keep it. */
export type Suite = Awaited<ReturnType<Client["suites"]["get"]>>;
export type SuiteTask = Suite["tasks"][number];
export type EvalReport = Awaited<ReturnType<Client["evals"]["report"]>>;
type EvalEntry = Awaited<ReturnType<Client["evals"]["get"]>>;

/** How a suite is run. What is left out is as the host has it. */
export interface EvalOptions {
  /** How often each task is run. */
  readonly trials?: number;
  /** How many tasks are run at once. */
  readonly concurrency?: number;
  /** How often a trial is repeated that ended in an error and not in an answer. */
  readonly retryErrors?: number;
  /** The evaluation ends without a verdict when it has cost more. */
  readonly budgetUsd?: number;
  /** Takes answers from earlier evaluations of the same agent and suite. */
  readonly cache?: boolean;
  readonly seed?: number;
  /** The modes that are run, where they are not all that the suite has. */
  readonly evalModes?: ("golden" | "rubric" | "adversarial" | "regression" | "live-shadow")[];
  /** The tasks that are run, where they are not all that the suite has. */
  readonly taskIds?: string[];
  /** Modes and tasks of the suite that need not be run for a verdict. */
  readonly allowMissing?: string[];
  /** What it is compared with: a baseline by its name, or an evaluation. */
  readonly baseline?: string;
  readonly baselineRunId?: string;
  /** The version of an installed agent; `agentLabel` names that of any other in reports. */
  readonly agentVersion?: string;
  readonly agentLabel?: string;
  /** Evaluates another agent than the suite is made for. */
  readonly anyAgent?: boolean;
}

/** A task in short: `expect` is a text that the answer contains, or any other value that it equals. */
export interface TaskInShort {
  readonly input: unknown;
  readonly expect?: unknown;
  /** What a judge is to look for, in place of `expect`. Weights are equal where none is given. */
  readonly rubric?: readonly (string | { readonly criterion: string; readonly weight: number })[];
  readonly fixtures?: SuiteTask["fixtures"];
}

export interface SuiteInCode extends Partial<Omit<Suite, "suiteId" | "tasks">> {
  /** `acme.evals.refunds` */
  readonly suiteId: string;
  /** By their ids. */
  readonly tasks: Readonly<Record<string, TaskInShort>>;
}

/** The suite with every member that a host asks for: version 1.0.0 and the modes that its tasks can be run in, where they are left out. */
export function defineSuite({ tasks: inCode, version = "1.0.0", modes, ...rest }: SuiteInCode): Suite {
  const tasks = Object.entries(inCode).map(([taskId, task]) => taskOf(taskId, task));
  const kinds = new Set(tasks.map(({ expected }) => expected.kind));
  return { ...rest, version, modes: modes ?? [...kinds], tasks };
}

function taskOf(taskId: string, { input, expect, rubric, fixtures }: TaskInShort): SuiteTask {
  if ((expect === undefined) === (rubric === undefined)) {
    throw new TypeError(`task ${taskId} needs either expect or rubric`);
  }
  const expected: SuiteTask["expected"] =
    rubric === undefined
      ? { kind: "golden", match: { strategy: typeof expect === "string" ? "contains" : "json-match", value: expect } }
      : { kind: "rubric", rubric: rubric.map((one) => (typeof one === "string" ? equal(one, rubric.length) : one)) };
  return { taskId, input, expected, ...(fixtures === undefined ? {} : { fixtures }) };
}

function equal(criterion: string, among: number) {
  return { criterion, weight: 1 / among };
}

export interface RunSuite {
  /** The id of the agent. */
  readonly agent: string;
  readonly options?: EvalOptions;
  /** What else counts as not passed. */
  readonly failOn?: readonly ("suspect" | "flaky" | "error" | "failure" | "finding")[];
  /** No answer to whether it got worse than its baseline is no pass. */
  readonly requireVerdict?: boolean;
  /** Called while it runs. */
  readonly onProgress?: (status: string) => void;
  /** Aborted, it cancels the evaluation. */
  readonly signal?: AbortSignal;
}

/** What came of it, as the command line concludes it. */
export interface SuiteResult {
  readonly runId: string;
  readonly verdict: "passed" | "failed" | "not_configured" | "unreachable" | "no_verdict";
  /** The verdict in a sentence. */
  readonly sentence: string;
  /** Why it did not pass. */
  readonly reasons: readonly string[];
  readonly warnings: readonly string[];
  /** Absent where nothing was evaluated. */
  readonly report?: EvalReport;
}

/** Keeps the suite on the host, evaluates the agent, and waits for the end. A result that is no pass is returned, not thrown. */
export async function runSuite(client: Client, suite: Suite, run: RunSuite): Promise<SuiteResult> {
  const { agent, options = {}, failOn = [], requireVerdict = false, signal } = run;
  const evalSuiteRef = `${suite.suiteId}@${suite.version}`;
  await client.suites.put(evalSuiteRef, JSON.stringify(suite), { signal });
  // Options of evaluations are beyond those that every run has.
  const configurable: object = options;
  const { runId } = await client.runs.start({ mode: "eval", evalSuiteRef, agentId: agent, configurable }, { signal });
  const entry = await ended(client, runId, run);
  const report = ENDED.has(entry.status) ? await reportOf(client, entry) : undefined;
  const { verdict, sentence, reasons, warnings } = conclude(entry, report, { failOn, requireVerdict });
  return { runId, verdict, sentence, reasons, warnings, ...(report === undefined ? {} : { report }) };
}

const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);
const FIRST_MS = 20;
const LONGEST_MS = 1_000;

async function ended(client: Client, runId: string, { onProgress, signal }: RunSuite): Promise<EvalEntry> {
  for (let attempt = 0; ; attempt++) {
    const entry = await client.evals.get(runId);
    onProgress?.(entry.status);
    if (ENDED.has(entry.status)) return entry;
    if (signal?.aborted) {
      await client.runs.cancel(runId, { reason: "aborted by its caller" });
      signal.throwIfAborted();
    }
    await sleep(backOff(attempt, FIRST_MS, LONGEST_MS), signal);
  }
}

async function reportOf({ evals }: Client, { runId, status }: EvalEntry): Promise<EvalReport | undefined> {
  try {
    return await evals.report(runId);
  } catch (error) {
    // Of an evaluation that ended before its first task there is none.
    const isMissing = error instanceof ApiError && (error.code === "not_found" || error.code === "run_state_conflict");
    if (status !== "completed" && isMissing) return undefined;
    throw error;
  }
}
