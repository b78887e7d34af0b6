import { expect } from "vitest";
import type { AgentTask } from "../agents/binding.ts";
import { scopeFor } from "../agents/memory/agent-memory.ts";
import { evalNode } from "../evals/run/eval-node.ts";
import type { EvalServices } from "../evals/run/eval-run.ts";
import type { AgentEvalSuite } from "../protocol/evals/eval-suite.ts";
import { AddedTask, TaskLinkPage } from "../protocol/evals/suite-api.ts";
import { isTerminal } from "../protocol/runs/run-status.ts";
import { parse } from "../protocol/schema.ts";
import { agentHost } from "./agent-nodes.ts";
import type { BOTH_STORES } from "./both-stores.ts";
import { KNOWN_SECRET, until } from "./engine.ts";
import { AGENT_ID, agentOf, agentsOf, EVAL_SETTINGS, goldenTask, suiteOf } from "./eval-bench.ts";
import { expectError, type TestHost, testHost, type Who } from "./host.ts";
import { workflow } from "./workflow.ts";

const OTHER = "local.test.other";
const STRICT = "local.test.strict";
const CITY = { type: "object", required: ["city"], properties: { city: { type: "string" } } } as const;
export const ADD = "/v1/host/assay/suites:add-from";
export const LINKS = "/v1/host/assay/suite-links";
export const SUITE = suiteOf([goldenTask("known", "known")], { targetAgentId: AGENT_ID });

/** One agent at one node, asked what the run is given; or two of them. */
const ASK = {
  typeId: "assay.agent",
  agent: { agentId: AGENT_ID },
  inputs: { task: { type: "variable", variableName: "question" } },
} as const;
const ONE = workflow({ id: "one", nodes: { ask: ASK }, variables: [{ name: "question", type: "object" }] });
const TWO = workflow({
  id: "two",
  nodes: { ask: ASK, again: { ...ASK, agent: { agentId: OTHER } } },
  edges: ["ask>again"],
  variables: [{ name: "question", type: "object" }],
});

const STRICTLY = workflow({
  id: "strict",
  nodes: { ask: { ...ASK, agent: { agentId: STRICT } } },
  variables: [{ name: "question", type: "object" }],
});

/** What was asked is gone when the run ends, and part of it is nobody's business. */
const CHANGED = workflow({
  id: "changed",
  nodes: {
    ask: {
      ...ASK,
      config: { resultVariable: "question" },
      inputs: { ...ASK.inputs, pin: { type: "variable", variableName: "pin" } },
    },
  },
  variables: [
    { name: "question", type: "object" },
    { name: "pin", type: "string", sensitive: true },
  ],
});

/** Looks the order up, fails once to ask the weather, and answers what it is told to. */
async function behave({ input, tools, signal }: AgentTask) {
  const { order, says } = input as { order?: number; says?: unknown };
  if (order !== undefined) {
    await tools.call("crm:find-order", { order }, signal);
    await tools.call("crm:weather", {}, signal);
    await tools.call("crm:find-order", { order: order + 1 }, signal);
  }
  return { type: "completed" as const, output: says ?? "Vienna" };
}

/** A host with agents whose runs are corrected, and suites that grow by what was corrected. */
export class SuiteGrowthBench {
  readonly host: TestHost;
  readonly #drop: () => Promise<void>;
  #suites = 0;

  private constructor(host: TestHost, drop: () => Promise<void>) {
    this.host = host;
    this.#drop = drop;
  }

  static async open(open: (typeof BOTH_STORES)[number][1]): Promise<SuiteGrowthBench> {
    const { store, drop } = await open();
    const listed = ["crm:find-order", "crm:weather"];
    const agent = agentOf({ toolAllowlist: listed, memoryShape: { longTerm: true } });
    const strict = agentOf({ agentId: STRICT, taskSchema: CITY, returnSchema: CITY });
    const agents = agentsOf([agent, agentOf({ agentId: OTHER }), strict], behave, {
      toolsFor: async ({ toolAllowlist }) => ({
        tools: toolAllowlist.map((name) => ({ name })),
        call: async (name, args) =>
          name === "crm:weather"
            ? { status: "error", error: "no signal" }
            : { status: "ok", outcome: { found: args, token: KNOWN_SECRET } },
      }),
    });
    const { host: asking, desk } = agentHost(store, agents);
    const services: EvalServices = { agents, settings: EVAL_SETTINGS, ...(desk.memory && { memory: desk.memory }) };
    const node = evalNode(asking, () => services);
    const nodeTypes = new Map([...asking.nodeTypes, [node.typeId, node]]);
    const host = await testHost({ store, worker: true, host: { nodeTypes }, deps: { evals: services } });
    const remembered = await desk.memory?.put(scopeFor({ tenant: "t1" }, AGENT_ID), {
      id: "where",
      content: "The customer writes from Austria.",
      tags: ["place"],
    });
    if (remembered !== undefined) await store.commit({ tenant: "t1", documents: [remembered.write] });
    for (const definition of [ONE, TWO, CHANGED, STRICTLY])
      await host.ask("POST", "/v1/workflows", { json: definition });
    const bench = new SuiteGrowthBench(host, drop);
    await bench.keep(SUITE);
    return bench;
  }

  async close(): Promise<void> {
    await this.host.close();
    await this.#drop();
  }

  async keep(suite: AgentEvalSuite): Promise<void> {
    const url = `/v1/host/assay/suites/${suite.suiteId}@${suite.version}`;
    const answer = await this.host.ask("PUT", url, { json: suite });
    expect(answer.statusCode, answer.payload).toBeLessThan(300);
  }

  /** A suite that no other test grows. */
  async suite(tasks = SUITE.tasks): Promise<string> {
    this.#suites += 1;
    const suiteId = `local.test.evals.s${this.#suites}`;
    await this.keep({ ...SUITE, suiteId, tasks });
    return suiteId;
  }

  /** A run from its start to its end. */
  async run(json: object): Promise<string> {
    const answer = await this.host.ask("POST", "/v1/runs", { json });
    expect(answer.statusCode, answer.payload).toBe(201);
    const { runId } = answer.json();
    await until(this.host.store, runId, ({ status }) => isTerminal(status));
    return runId;
  }

  ask(question: object, workflowId = "one"): Promise<string> {
    return this.run({ workflowId, inputs: { question } });
  }

  evaluate(suiteId: string): Promise<string> {
    return this.run({ mode: "eval", evalSuiteRef: suiteId, agentId: AGENT_ID });
  }

  async correct(runId: string, correction: string, target: object = {}): Promise<string> {
    const json = { target, signal: { kind: "correction", correction } };
    const answer = await this.host.ask("POST", `/v1/runs/${runId}/annotations`, { json });
    expect(answer.statusCode, answer.payload).toBe(201);
    return answer.json().annotationId;
  }

  async corrected(says: string): Promise<string> {
    const runId = await this.ask({ says });
    await this.correct(runId, `${says}, better`);
    return runId;
  }

  async eventOf(runId: string, type: string, nth = 0): Promise<string> {
    const events = (await this.host.store.readEvents(runId, 0, 1000)).filter((one) => one.type === type);
    return JSON.parse(events[nth]?.body ?? "{}").eventId;
  }

  tryAdd(json: object, as: Who = "owner") {
    return this.host.ask("POST", ADD, { json, as });
  }

  async add(json: object): Promise<AddedTask> {
    const answer = await this.tryAdd(json);
    expect(answer.statusCode, answer.payload).toBe(201);
    return parse(AddedTask, answer.json(), "answer");
  }

  async refused(json: object, says: RegExp): Promise<object> {
    const answer = await this.tryAdd(json);
    const details = expectError(answer, "validation_error");
    expect(answer.json().message).toMatch(says);
    return details;
  }

  async suiteText(ref: string): Promise<string> {
    return (await this.host.ask("GET", `/v1/host/assay/suites/${ref}`)).body;
  }

  async links(query: string): Promise<TaskLinkPage> {
    return parse(TaskLinkPage, (await this.host.ask("GET", `${LINKS}?${query}`)).json(), "links");
  }
}
