import type { InstalledAgent } from "../../agents/agents.ts";
import type { Binding } from "../../agents/binding.ts";
import type { Host } from "../../engine/host.ts";
import { validationError } from "../../protocol/errors.ts";
import type { EvalTask } from "../../protocol/evals/eval-suite.ts";
import type { Proof } from "../../protocol/evals/suite-api.ts";
import { Budget } from "../run/budget.ts";
import type { EvalPlan } from "../run/eval-plan.ts";
import type { EvalRun, EvalServices } from "../run/eval-run.ts";
import { runTask } from "../run/run-task.ts";
import { differenceLines } from "../score/difference.ts";
import { meets } from "../score/task-bar.ts";

type Needs = Pick<Host, "scrubber" | "nowMs" | "newId">;

export interface Proven {
  readonly recorded: Proof;
  readonly correction: Proof;
}

/**
 * Runs a new task against the answers that were recorded and against the correction, as an evaluation would: it has to fail on the first
 * and pass on the second. Throws `validation_error` with both outcomes where it does not, because such a task would guard nothing.
 */
export async function proveTask(
  host: Needs,
  task: EvalTask,
  { outputs, answer }: { readonly outputs: readonly unknown[]; readonly answer: unknown },
): Promise<Proven> {
  const correction = await scoreOf(host, task, { output: answer });
  const recorded = await Promise.all(
    outputs.length === 0 ? [scoreOf(host, task, undefined)] : outputs.map((output) => scoreOf(host, task, { output })),
  );
  const wrong = recorded.find(({ score }) => !meets(score, 1));
  const proof = { recorded: wrong ?? (recorded[0] as Proof), correction };
  if (wrong === undefined) {
    const problem = "the recorded answer passes it: what was answered is what the correction asks for";
    throw validationError(problem, { proof });
  }
  if (!correction.passed) {
    throw validationError(`the correction itself does not pass it${findingsOf(correction)}`, { proof });
  }
  return proof;
}

/** Proves a task that expects the recorded answer, because a person confirmed it. */
export async function proveConfirmed(host: Needs, task: EvalTask, output: unknown): Promise<Proof> {
  const recorded = await scoreOf(host, task, { output });
  if (recorded.passed) return recorded;
  throw validationError(`the recorded answer does not pass it${findingsOf(recorded)}`, { proof: { recorded } });
}

function findingsOf({ findings }: Proof): string {
  const found = findings.map(({ kind, severity }) => `${kind} (${severity})`).join(", ");
  return found === "" ? "" : `: ${found}`;
}

/** The answer is not produced by a new call: it is the recorded output, or the correction in its place. */
async function scoreOf(
  host: Needs,
  task: EvalTask,
  answered: { readonly output: unknown } | undefined,
): Promise<Proof> {
  const binding: Binding = {
    kind: "scripted",
    call: async () =>
      answered === undefined
        ? { type: "failed", error: { code: "agent_error", message: "There was no answer.", retryable: false } }
        : { type: "completed", output: answered.output },
  };
  const tools = task.fixtures?.toolResponses?.map(({ tool }) => tool) ?? [];
  const run: EvalRun = {
    // The proof uses no cache and no live services.
    host: { ...host, store: {} as Host["store"] },
    services: NOTHING_LIVE,
    runId: "proof",
    nodeId: "proof",
    owner: { tenant: "proof" },
    plan: { ...PLAN, taskIds: [task.taskId] },
    suite: { suiteId: PLAN.suiteId, version: PLAN.suiteVersion, modes: ["golden"], tasks: [task] },
    agent: { ...AGENT, toolAllowlist: [...new Set(tools)] },
    binding,
    signal: new AbortController().signal,
  };
  const { result } = await runTask(run, task, new Budget(undefined));
  if (result === undefined) throw new Error("a task was stopped that has no budget");
  const difference = result.trials[0]?.difference;
  return {
    score: result.score,
    passed: result.passed,
    findings: result.findings.map(({ kind, severity }) => ({ kind, severity })),
    ...(difference === undefined ? {} : { difference: differenceLines(difference) }),
  };
}

const NO_HASH = "0".repeat(64);

const PLAN: EvalPlan = {
  suiteId: "assay.evals.proof",
  suiteVersion: "0.0.0",
  suiteSha256: NO_HASH,
  agentId: "assay.proof",
  resolvedAgentVersion: "0.0.0",
  agentHash: NO_HASH,
  modes: ["golden"],
  taskIds: [],
  trials: 1,
  concurrency: 1,
  retryErrors: 0,
  cache: false,
  seed: 1,
  alpha: 0.05,
  margin: 0.05,
};

const AGENT: InstalledAgent = {
  agentId: PLAN.agentId,
  version: PLAN.resolvedAgentVersion,
  packName: "assay",
  persona: "",
  modelClass: "general",
  systemPrompt: "",
  toolAllowlist: [],
  contentHash: NO_HASH,
};

const NOTHING_LIVE: EvalServices = {
  agents: {
    versionsOf: async () => [],
    activeVersions: async () => [],
    bindingFor: () => undefined,
    toolsFor: async () => ({ tools: [], call: async () => ({ status: "error", error: "There are no tools." }) }),
    memoryFor: async () => [],
  },
  settings: { maxTasksPerSuite: 1, concurrency: 1, maxConcurrency: 1, maxTrials: 1, cacheMs: 0 },
};
