import type { Agents } from "../agents/agents.ts";
import { withConformanceAgent } from "../agents/conformance-agents.ts";
import { deploymentNode } from "../agents/deployments/management-workflow.ts";
import { calibrationNode } from "../evals/calibration/calibration-node.ts";
import { evalNode } from "../evals/run/eval-node.ts";
import type { EvalServices } from "../evals/run/eval-run.ts";
import type { AgentEvalSuite } from "../protocol/evals/eval-suite.ts";
import { isTerminal } from "../protocol/runs/run-status.ts";
import type { Store } from "../store/port/store.ts";
import { engineOn, until, workerOn } from "./engine.ts";
import {
  AGENT_ID,
  agentOf,
  agentsOf,
  type Behaviour,
  beginEval,
  EVAL_SETTINGS,
  echo,
  evalHost,
  goldenTask,
  suiteOf,
} from "./eval-bench.ts";
import { eventually } from "./eventually.ts";
import { type TestHost, type TestHostOptions, testHost, type Who } from "./host.ts";

export interface EvalServer extends TestHost {
  keep(suite: AgentEvalSuite, as?: Who): Promise<void>;
  /** Starts an evaluation; the answer as it is. */
  start(body: object, as?: Who): ReturnType<TestHost["ask"]>;
  /** Starts one with the suite and waits for its end. */
  evaluate(suite: AgentEvalSuite, configurable?: object, as?: Who): Promise<string>;
}

/** A whole host with a worker, on which the agents answer as the test says. */
export async function evalServer(
  store: Store,
  services: Partial<EvalServices> & { readonly behave?: Behaviour; readonly agents?: Agents } = {},
  options: TestHostOptions = {},
): Promise<EvalServer> {
  const { behave = echo, agents = agentsOf([agentOf()], behave), ...more } = services;
  const all: EvalServices = { settings: EVAL_SETTINGS, ...more, agents: withConformanceAgent(agents) };
  const bare = engineOn(store);
  const nodes = [evalNode(bare, () => all), calibrationNode(bare, () => all), deploymentNode];
  const nodeTypes = new Map([...bare.nodeTypes, ...nodes.map((node) => [node.typeId, node] as const)]);
  const host = await testHost({
    store,
    worker: true,
    ...options,
    host: { ...options.host, nodeTypes },
    deps: { evals: all },
  });
  const keep = async (suite: AgentEvalSuite, as: Who = "owner") => {
    const answer = await host.ask("PUT", `/v1/host/assay/suites/${suite.suiteId}@${suite.version}`, {
      json: suite,
      as,
    });
    if (answer.statusCode >= 300) throw new Error(answer.body);
  };
  const start = (body: object, as: Who = "owner") =>
    host.ask("POST", "/v1/runs", { json: { mode: "eval", agentId: AGENT_ID, ...body }, as });
  return Object.assign(host, {
    keep,
    start,
    evaluate: async (suite: AgentEvalSuite, configurable: object = {}, as: Who = "owner") => {
      await keep(suite, as);
      const created = await start({ evalSuiteRef: `${suite.suiteId}@${suite.version}`, configurable }, as);
      if (created.statusCode !== 201) throw new Error(created.body);
      const { runId } = created.json<{ runId: string }>();
      await eventually(async () => {
        const { status } = (await host.ask("GET", `/v1/runs/${runId}`, { as })).json();
        if (!isTerminal(status)) throw new Error(status);
      });
      return runId;
    },
  });
}

/** An evaluation of the first tenant that has completed in this store, with tasks `a` and `b`; the store's own host needs to know nothing of it. */
export async function finishedEval(store: Store, suiteId = "local.test.evals.echo"): Promise<string> {
  const suite = suiteOf([goldenTask("a", "a"), goldenTask("b", "b")], { suiteId });
  const made = await evalHost(store, suite, { agents: agentsOf([agentOf()], echo) });
  // Other runs in this store are left as they are.
  const idle = { claimRuns: async () => [], nextWakeAtMs: async () => undefined };
  const worker = workerOn({ ...made.host, store: { ...made.host.store, ...idle } });
  try {
    const runId = await beginEval({ ...made, host: { ...made.host, localWorker: worker } }, {}, { suite: suiteId });
    await until(store, runId, ({ status }) => isTerminal(status));
    return runId;
  } finally {
    await worker.stop(1000);
  }
}
