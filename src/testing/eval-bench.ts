import type { Agents, InstalledAgent } from "../agents/agents.ts";
import type { AgentAnswer, AgentTask, Binding, Watcher } from "../agents/binding.ts";
import type { Host } from "../engine/host.ts";
import { createEvalRun } from "../evals/run/create-eval-run.ts";
import { evalNode } from "../evals/run/eval-node.ts";
import type { EvalServices, EvalSettings } from "../evals/run/eval-run.ts";
import { putSuite } from "../evals/suite/suite-store.ts";
import type { AgentEvalSuite, EvalTask } from "../protocol/evals/eval-suite.ts";
import type { Caller } from "../protocol/identity/identity.ts";
import type { Store } from "../store/port/store.ts";
import { ADA, engineOn } from "./engine.ts";

export const AGENT_ID = "local.test.echo";

export function agentOf(changes: Partial<InstalledAgent> = {}): InstalledAgent {
  const { agentId = AGENT_ID, version = "1.0.0" } = changes;
  return {
    agentId,
    version,
    packName: "local.test",
    persona: "Echo",
    modelClass: "general",
    systemPrompt: "Answer with what you are given, and with nothing else.",
    toolAllowlist: [],
    contentHash: Buffer.from(`${agentId}@${version}`).toString("hex").padEnd(64, "0").slice(0, 64),
    ...changes,
  };
}

export type Behaviour = (task: AgentTask, watch: Watcher) => AgentAnswer | Promise<AgentAnswer>;

export const echo: Behaviour = ({ input }) => ({ type: "completed", output: input });

/** Agents of this process: each answers as the test says. */
export function agentsOf(
  agents: readonly InstalledAgent[],
  behave: Behaviour,
  more: Partial<Agents> & { readonly binding?: Partial<Binding> } = {},
): Agents {
  const { binding, ...rest } = more;
  return {
    versionsOf: async (_, agentId) => agents.filter((agent) => agent.agentId === agentId),
    activeVersions: async () => [],
    bindingFor: () => ({ kind: "scripted", call: async (task, watch) => behave(task, watch), ...binding }),
    toolsFor: async () => ({ tools: [], call: async () => ({ status: "error", error: "there are no live tools" }) }),
    memoryFor: async () => [],
    ...rest,
  };
}

export const EVAL_SETTINGS: EvalSettings = {
  maxTasksPerSuite: 10_000,
  concurrency: 4,
  maxConcurrency: 64,
  maxTrials: 100,
  cacheMs: 86_400_000,
};

export function goldenTask(taskId: string, input: unknown, value: unknown = input): EvalTask {
  return { taskId, input, expected: { kind: "golden", match: { strategy: "exact", value } } };
}

export function suiteOf(tasks: readonly EvalTask[], changes: Partial<AgentEvalSuite> = {}): AgentEvalSuite {
  return { suiteId: "local.test.evals.echo", version: "1.0.0", modes: ["golden"], tasks: [...tasks], ...changes };
}

/** A host on which evaluations can be started, with this suite on it. */
export async function evalHost(
  store: Store,
  suite: AgentEvalSuite,
  services: Partial<EvalServices> & Pick<EvalServices, "agents">,
): Promise<{ readonly host: Host; readonly services: EvalServices }> {
  const all: EvalServices = { settings: EVAL_SETTINGS, ...services };
  const bare = engineOn(store);
  const node = evalNode(bare, () => all);
  const host: Host = {
    ...bare,
    capabilities: new Set([...bare.capabilities, "evalSuite"]),
    nodeTypes: new Map([...bare.nodeTypes, [node.typeId, node]]),
  };
  const ref = `${suite.suiteId}@${suite.version}`;
  await putSuite(host, { caller: ADA, ref, bytes: Buffer.from(JSON.stringify(suite)) });
  return { host, services: all };
}

export async function beginEval(
  { host, services }: { readonly host: Host; readonly services: EvalServices },
  configurable: Readonly<Record<string, unknown>> = {},
  {
    caller = ADA,
    suite = "local.test.evals.echo",
    agentId = AGENT_ID,
  }: { caller?: Caller; suite?: string; agentId?: string } = {},
): Promise<string> {
  const request = { mode: "eval" as const, evalSuiteRef: suite, agentId, configurable };
  const { runId } = await createEvalRun(host, services, { caller, request, dedup: false, record: () => undefined });
  return runId;
}
