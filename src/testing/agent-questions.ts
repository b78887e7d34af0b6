import { expect } from "vitest";
import type { Agents, InstalledAgent } from "../agents/agents.ts";
import type { AgentAnswer } from "../agents/binding.ts";
import type { AgentDesk } from "../agents/nodes/ask-agent.ts";
import { EVENTS, type RunEventDoc } from "../protocol/events.ts";
import type { Run } from "../protocol/runs/run.ts";
import { matches } from "../protocol/schema.ts";
import type { WorkflowNode } from "../protocol/workflows/workflow.ts";
import { agentHost } from "./agent-nodes.ts";
import { begin, logOf, register, until } from "./engine.ts";
import { AGENT_ID, agentOf, agentsOf, type Behaviour, echo } from "./eval-bench.ts";
import { ended, type workbench } from "./workbench.ts";
import { type WorkflowSpec, workflow } from "./workflow.ts";

export interface Asking {
  readonly behave?: Behaviour;
  readonly agent?: Partial<InstalledAgent>;
  readonly agents?: Partial<Agents>;
  readonly desk?: Partial<AgentDesk>;
  readonly node?: Partial<WorkflowNode>;
  readonly workflow?: Partial<WorkflowSpec>;
  readonly request?: object;
}

export const ASK = { typeId: "assay.agent", agent: { agentId: AGENT_ID } };

/** A run whose one node asks an agent, on its way. */
async function start(
  bench: ReturnType<typeof workbench>,
  { behave = echo, agent, agents, desk, node = {}, workflow: spec = {}, request = {} }: Asking,
) {
  const { store } = bench;
  const calls: unknown[] = [];
  const counted: Behaviour = (task, watch) => {
    calls.push(task.input);
    return behave(task, watch);
  };
  const { host } = agentHost(store, agentsOf([agentOf(agent)], counted, agents), desk);
  const inputs = { task: { type: "variable", variableName: "question" } } as const;
  const definition = workflow({
    nodes: { ask: { ...ASK, inputs, ...node } },
    variables: [{ name: "question", type: "string", defaultValue: "why" }],
    ...spec,
  });
  const workflowId = await register(host, definition);
  const worker = bench.work(host);
  const runId = await begin({ ...host, localWorker: worker }, { workflowId, ...request });
  return { store, host, runId, calls };
}

/** The same at its end, with its log. */
async function finish(bench: ReturnType<typeof workbench>, spec: Asking) {
  const { store, runId, ...rest } = await start(bench, spec);
  const run = await until(store, runId, ended);
  const log = await logOf(store, runId);
  for (const { type, payload } of log) {
    expect(matches(EVENTS[type as keyof typeof EVENTS].payload, payload), type).toBe(true);
  }
  return { store, runId, run, log, types: log.map(({ type }) => type), ...rest };
}

export const waiting = (run: Run) => run.status === "waiting-approval";
export const completed = (output: unknown, more: object = {}): AgentAnswer => ({ type: "completed", output, ...more });
export const payloadsOf = (log: readonly RunEventDoc[], type: string) =>
  log.filter((event) => event.type === type).map(({ payload }) => payload as Record<string, unknown>);

/** Asks agents in workflows, on the bench of the test. */
export function questions(bench: ReturnType<typeof workbench>) {
  return { asking: (spec: Asking) => start(bench, spec), asked: (spec: Asking) => finish(bench, spec) };
}
