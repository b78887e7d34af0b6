import { expect } from "vitest";
import type { InstalledAgent } from "../agents/agents.ts";
import { withConformanceAgent } from "../agents/conformance-agents.ts";
import { deployedChannels } from "../agents/deployments/deployed-channels.ts";
import { deploymentNode } from "../agents/deployments/management-workflow.ts";
import { activeVersions, unnamedVersions } from "../agents/deployments/stored-deployments.ts";
import { identityNode } from "../agents/nodes/identity-node.ts";
import type { NodeType } from "../engine/worker/node-type.ts";
import { gateEvidenceOn } from "../evals/evidence/gate-evidence.ts";
import { evalNode } from "../evals/run/eval-node.ts";
import type { EvalServices } from "../evals/run/eval-run.ts";
import type { EvalTask } from "../protocol/evals/eval-suite.ts";
import type { Condition, DeploymentTransition, PromotionRules } from "../protocol/promotion/api.ts";
import type { Store } from "../store/port/store.ts";
import { engineOn, until } from "./engine.ts";
import { AGENT_ID, agentOf, agentsOf, EVAL_SETTINGS, echo, goldenTask, suiteOf } from "./eval-bench.ts";
import { type TestHost, testHost, type Who } from "./host.ts";
import { answer, enrol } from "./voters.ts";
import { ended } from "./workbench.ts";

export const SUITE = "local.test.evals.echo@1.0.0";
const TASKS: readonly EvalTask[] = ["a", "b", "c", "d"].map((one) => goldenTask(one, one));

const FIXTURE_SUITE_ID = "local.test.evals.fixtures";

/** A suite that gives its task a fixture, for which the agent of the bench never asks. */
export const FIXTURE_SUITE = `${FIXTURE_SUITE_ID}@1.0.0`;
const FIXTURE_TASKS: readonly EvalTask[] = [
  { ...goldenTask("looks-up", "x"), fixtures: { toolResponses: [{ tool: "crm:find", response: 1 }] } },
];

/** Answers half of the tasks wrongly. */
export const BAD_VERSION = "6.6.6";

const VERSIONS = ["1.0.0", "1.1.0", "1.10.0", "2.0.0-rc.1", "2.0.0", BAD_VERSION];

export interface DeploymentBenchOptions {
  readonly evidence?: EvalServices["evidence"];
  readonly worker?: boolean;
}

/** A whole host with an agent in several versions, a suite that it is evaluated with, and a worker. */
export class DeploymentBench {
  readonly host: TestHost;
  readonly agentId: string;

  private constructor(host: TestHost, agentId: string) {
    this.host = host;
    this.agentId = agentId;
  }

  static async on(store: Store, options: DeploymentBenchOptions = {}): Promise<DeploymentBench> {
    const services = servicesOn(store, options);
    const bare = engineOn(store);
    const desk = { agents: services.agents, channels: deployedChannels(store, services.agents) };
    const more: NodeType[] = [evalNode(bare, () => services), deploymentNode, identityNode(bare, () => desk)];
    const nodeTypes = new Map([...bare.nodeTypes, ...more.map((type) => [type.typeId, type] as const)]);
    const { worker = true } = options;
    const host = await testHost({
      store,
      worker,
      host: { nodeTypes, evidence: gateEvidenceOn(bare, services.agents, options.evidence) },
      deps: { evals: services },
    });
    const suite = suiteOf(TASKS);
    const put = await host.ask("PUT", `/v1/host/assay/suites/${SUITE}`, { json: suite });
    expect(put.statusCode, put.payload).toBeLessThan(300);
    const fixed = await host.ask("PUT", `/v1/host/assay/suites/${FIXTURE_SUITE}`, {
      json: suiteOf(FIXTURE_TASKS, { suiteId: FIXTURE_SUITE_ID }),
    });
    expect(fixed.statusCode, fixed.payload).toBeLessThan(300);
    return new DeploymentBench(host, AGENT_ID);
  }

  /** The same host, about another agent: nothing of it is deployed yet. */
  about(name: string): DeploymentBench {
    return new DeploymentBench(this.host, `local.test.${name}`);
  }

  /** From now on there is something else under its name and versions. */
  replace(): void {
    REPLACED.set(this.agentId, (REPLACED.get(this.agentId) ?? 0) + 1);
  }

  get url(): string {
    return `/v1/agents/${this.agentId}/deployments`;
  }

  send(request: Partial<DeploymentTransition>, as: Who = "owner", headers: Readonly<Record<string, string>> = {}) {
    const json = { version: "1.0.0", transition: "promote", ...request };
    return this.host.ask("POST", this.url, { as, json, headers });
  }

  list(as: Who = "owner") {
    return this.host.ask("GET", this.url, { as });
  }

  async done(request: Partial<DeploymentTransition>, as: Who = "owner") {
    const answered = await this.send(request, as);
    expect(answered.statusCode, answered.payload).toBe(200);
    return answered.json();
  }

  /** As far as the last state, without asking for more than a step at a time. */
  async promoted(
    version: string,
    last: "test" | "staged" | "active" = "active",
    more: Partial<DeploymentTransition> = {},
  ) {
    const steps = ["test", "staged", "active"] as const;
    let record: unknown;
    for (const toState of steps.slice(0, steps.indexOf(last) + 1)) {
      record = await this.done({ version, toState, ...(toState === "active" ? more : {}) });
    }
    return record;
  }

  async policy(rules: PromotionRules, subject = this.agentId) {
    const put = await this.host.ask("PUT", `/v1/host/assay/promotion-policies/${subject}`, { json: rules });
    expect(put.statusCode, put.payload).toBe(200);
    return put.json();
  }

  /** An evaluation that has ended. */
  async evaluated(
    agentVersion: string,
    configurable: object = {},
    as: Who = "owner",
    evalSuiteRef: string = SUITE,
  ): Promise<string> {
    const json = {
      mode: "eval",
      evalSuiteRef,
      agentId: this.agentId,
      configurable: { agentVersion, ...configurable },
    };
    const created = await this.host.ask("POST", "/v1/runs", { as, json });
    expect(created.statusCode, created.payload).toBe(201);
    const { runId } = created.json();
    await until(this.host.store, runId, ended);
    return runId;
  }

  async vote(runId: string, decision: "granted" | "rejected", principal = "rita") {
    const caller = await enrol(this.host.store, principal, { roles: ["reviewer"] });
    return answer(this.host.host, caller, runId, { decision }, `gate-${runId}`);
  }

  async types(runId: string): Promise<string[]> {
    return (await this.events(runId)).map(({ type }) => type);
  }

  async events(runId: string): Promise<{ eventId: string; type: string; payload: Record<string, unknown> }[]> {
    const headers = { accept: "application/json" };
    return (await this.host.ask("GET", `/v1/runs/${runId}/events?streamMode=debug`, { headers })).json().events;
  }

  async audit(action: string): Promise<{ actor: string; target: string; details: Record<string, unknown> }[]> {
    const { entries } = (await this.host.ask("GET", "/v1/host/assay/audit/entries?limit=1000")).json();
    return entries.filter((entry: { action: string }) => entry.action === action);
  }

  /** Every event about deployments that there is in the tenant. */
  async deploymentEvents(): Promise<string[]> {
    const found: string[] = [];
    for (const { runId } of await this.host.store.listRuns({ tenant: "t1" }, { limit: 200 })) {
      for (const type of await this.types(runId)) if (type.startsWith("deployment.")) found.push(type);
    }
    return found;
  }
}

/** The conditions of a refusal by name. */
export function conditionsIn(details: Readonly<Record<string, unknown>>): Record<string, Condition> {
  const conditions = details["conditions"] as Condition[];
  return Object.fromEntries(conditions.map((one) => [one.condition, one]));
}

function servicesOn(store: Store, { evidence }: DeploymentBenchOptions): EvalServices {
  const agents = agentsOf([], echo, {
    versionsOf: async ({ tenant }, agentId) =>
      tenant === "t1" && agentId.startsWith("local.test.") ? versions(agentId) : [],
    activeVersions: (visible, agentId) => activeVersions(store, visible, agentId),
    unnamedVersions: (visible, agentId) => unnamedVersions(store, visible, agentId),
    bindingFor: ({ version }) => ({
      kind: "scripted",
      call: async ({ input }) => {
        const wrong = version === BAD_VERSION && (input === "a" || input === "b");
        return { type: "completed", output: wrong ? "wrong" : input };
      },
    }),
  });
  return {
    agents: withConformanceAgent(agents),
    settings: EVAL_SETTINGS,
    ...(evidence === undefined ? {} : { evidence }),
  };
}

/** How often, by agent. */
const REPLACED = new Map<string, number>();

function versions(agentId: string): InstalledAgent[] {
  const times = REPLACED.get(agentId);
  const other = times === undefined ? {} : { contentHash: times.toString(16).padStart(64, "f") };
  return VERSIONS.map((version) => agentOf({ agentId, version, ...other })).reverse();
}
