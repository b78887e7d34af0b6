import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { DeploymentBench } from "../../../src/testing/deployment-bench.ts";
import { until } from "../../../src/testing/engine.ts";
import { GateClient } from "../../../src/testing/gate-host.ts";
import { expectError } from "../../../src/testing/host.ts";
import { ended } from "../../../src/testing/workbench.ts";
import { workflow } from "../../../src/testing/workflow.ts";

describe.each(HTTP_STORES)("channels on %s", (_, open) => {
  let bench: DeploymentBench;
  let gates: GateClient;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    bench = await DeploymentBench.on(opened.store);
    gates = new GateClient(bench.host);
  });
  afterAll(async () => {
    await bench.host.close();
    await drop();
  });

  /** Asks the agent by its channel, waits at a gate, and asks again. */
  async function registered(agent: DeploymentBench, channel = "stable"): Promise<string> {
    const node = { typeId: "core.identity", agent: { agentId: agent.agentId, channel } };
    const definition = workflow({
      id: `asks-${agent.agentId.replaceAll(".", "-")}-${channel}`,
      nodes: { first: node, gate: "core.approvalGate", second: node } as never,
      edges: ["first>gate", "gate>second"],
    });
    await gates.registerWorkflow(definition);
    return definition.id;
  }

  /** Asks the agent by its name alone. */
  async function registeredPlain(agent: DeploymentBench): Promise<string> {
    const node = { typeId: "core.identity", agent: { agentId: agent.agentId } };
    const id = `asks-${agent.agentId.replaceAll(".", "-")}`;
    await gates.registerWorkflow(
      workflow({ id, nodes: { only: node, gate: "core.approvalGate" } as never, edges: ["only>gate"] }),
    );
    return id;
  }

  async function given(agent: DeploymentBench, runId: string): Promise<unknown[]> {
    const started = (await agent.events(runId)).filter(({ type }) => type === "agent.invocation.started");
    return started.map(({ payload }) => [payload["resolvedAgentVersion"], payload["resolvedChannel"]]);
  }

  const finish = async (runId: string) => {
    await gates.answer(runId, { action: "accept" });
    await until(bench.host.store, runId, ended);
  };

  test("are settled once for a run: it keeps its version, whatever is deployed meanwhile", async () => {
    const agent = bench.about("pinned");
    const workflowId = await registered(agent);
    await agent.promoted("1.0.0");
    const runId = await gates.waiting(workflowId);
    await agent.promoted("2.0.0");
    await agent.done({ version: "1.0.0", transition: "deprecate" });
    await finish(runId);
    expect(await given(agent, runId)).toEqual([
      ["1.0.0", "stable"],
      ["1.0.0", "stable"],
    ]);
    const later = await gates.waiting(workflowId);
    expect(await given(agent, later)).toEqual([["2.0.0", "stable"]]);
  });

  test("are read from the log by a replay and by a fork, and never drawn again", async () => {
    const agent = bench.about("recorded");
    const workflowId = await registered(agent);
    await agent.promoted("1.0.0");
    const runId = await gates.waiting(workflowId);
    await finish(runId);
    await agent.promoted("2.0.0");
    const fork = async (json: object) => {
      const answered = await agent.host.ask("POST", `/v1/runs/${runId}:fork`, { json });
      expect(answered.statusCode, answered.payload).toBe(201);
      return String(answered.json().runId);
    };
    const replay = await fork({ mode: "replay", fromSeq: 0 });
    await until(agent.host.store, replay, ended);
    expect(await given(agent, replay)).toEqual(await given(agent, runId));
    const log = await agent.types(runId);
    const branch = await fork({ mode: "branch", fromSeq: log.indexOf("interrupt.requested") });
    await gates.until(branch, (run) => run.status === "waiting-approval");
    await finish(branch);
    expect(await given(agent, branch)).toEqual([
      ["1.0.0", "stable"],
      ["1.0.0", "stable"],
    ]);
  });

  test("with nothing active start no run, and fall back to nothing", async () => {
    const agent = bench.about("empty");
    const workflowId = await registered(agent);
    const start = () => agent.host.ask("POST", "/v1/runs", { json: { workflowId } });
    expectError(await start(), "no_active_deployment");
    await agent.promoted("1.0.0", "staged");
    expectError(await start(), "no_active_deployment");
    await agent.done({ toState: "active", channel: "canary" });
    expectError(await start(), "no_active_deployment");
    await agent.done({ toState: "active", channel: "stable" });
    expect((await start()).statusCode).toBe(201);
    await agent.done({ transition: "pause" });
    expectError(await start(), "no_active_deployment");
  });

  test("that nobody knows start no run", async () => {
    const agent = bench.about("nightly");
    await agent.promoted("1.0.0");
    const workflowId = await registered(agent, "nightly");
    expectError(await agent.host.ask("POST", "/v1/runs", { json: { workflowId } }), "no_active_deployment");
  });

  test("of latest stand for the highest active version", async () => {
    const agent = bench.about("highest");
    await agent.promoted("1.10.0");
    await agent.promoted("1.1.0");
    const runId = await gates.waiting(await registered(agent, "latest"));
    expect(await given(agent, runId)).toEqual([["1.10.0", "latest"]]);
  });

  test("are shared between runs by the share of the newer version", async () => {
    const agent = bench.about("shared");
    const workflowId = await registered(agent);
    await agent.promoted("1.0.0");
    await agent.promoted("1.1.0", "active", { canaryPercent: 50 });
    const drawn = new Set<unknown>();
    for (let i = 0; i < 40 && drawn.size < 2; i++) {
      const runId = await gates.waiting(workflowId);
      for (const [version] of (await given(agent, runId)) as unknown[][]) drawn.add(version);
    }
    expect(drawn).toEqual(new Set(["1.0.0", "1.1.0"]));
  });

  test("are not asked for by a name alone, which gives no run a version that has a share or was taken out of service", async () => {
    const agent = bench.about("plain");
    const workflowId = await registeredPlain(agent);
    const start = () => agent.host.ask("POST", "/v1/runs", { json: { workflowId } });
    const version = async () => (await given(agent, await gates.waiting(workflowId)))[0];
    expect(await version()).toEqual(["6.6.6", undefined]);
    await agent.promoted("1.0.0", "staged");
    expect(await version()).toEqual(["6.6.6", undefined]);
    await agent.done({ version: "1.0.0", toState: "active" });
    expect(await version()).toEqual(["1.0.0", undefined]);
    await agent.promoted("2.0.0", "active", { canaryPercent: 1 });
    expect(await version()).toEqual(["1.0.0", undefined]);
    await agent.done({ version: "2.0.0", transition: "rollback" });
    await agent.done({ version: "1.0.0", transition: "pause" });
    const { nodeId, problem } = expectError(await start(), "no_active_deployment");
    expect([nodeId, problem]).toEqual(["only", `agent ${agent.agentId} has no active version`]);
    await agent.done({ version: "1.0.0", toState: "active" });
    expect(await version()).toEqual(["1.0.0", undefined]);
    await agent.done({ version: "1.0.0", transition: "deprecate" });
    expectError(await start(), "no_active_deployment");
  });

  test("fail a run whose version is withdrawn after it was started and before it was asked", async () => {
    const agent = bench.about("withdrawn");
    await agent.promoted("1.0.0");
    const definition = workflow({
      id: "asks-late",
      nodes: {
        gate: "core.approvalGate",
        only: { typeId: "core.identity", agent: { agentId: agent.agentId, channel: "stable" } },
      } as never,
      edges: ["gate>only"],
    });
    await gates.registerWorkflow(definition);
    const runId = await gates.waiting(definition.id);
    await agent.done({ transition: "pause" });
    await finish(runId);
    const run = await bench.host.store.readRun({ tenant: "t1" }, runId);
    expect(run).toMatchObject({ status: "failed", error: { code: "no_active_deployment" } });
  });
});

describe("the seam of deployments", () => {
  const SEAM = "/v1/host/sample/agents/deployment-transition";
  let bench: DeploymentBench;
  beforeAll(async () => {
    const opened = await HTTP_STORES[0]?.[1]();
    if (opened) bench = await DeploymentBench.on(opened.store);
  });
  afterAll(() => bench.host.close());
  const seam = async (json: object) => {
    const answered = await bench.host.ask("POST", SEAM, { json });
    expect(answered.statusCode, answered.payload).toBe(200);
    return answered.json();
  };
  const deployed = async (runId: string) => (await bench.types(runId)).filter((type) => type.startsWith("deployment."));

  test("promotes, also again", async () => {
    const { allowed, record, runId } = await seam({ scenario: "promote" });
    expect({ allowed, record }).toMatchObject({ allowed: true, record: { state: "active", channels: ["stable"] } });
    expect(await deployed(runId)).toEqual(["deployment.promoted"]);
    const named = { scenario: "promote", agentId: "vendor.acme.helper", version: "1.2.3", channel: "canary" };
    expect(await seam(named)).toMatchObject({ allowed: true, record: { version: "1.2.3", channels: ["canary"] } });
    expect(await seam(named)).toMatchObject({ allowed: true });
  });

  test("is refused without the scope and without the evidence, and no promotion is told", async () => {
    const denied = await seam({ scenario: "unauthorized" });
    expect(denied).toMatchObject({ allowed: false, error: "forbidden" });
    expect(await bench.types(denied.runId)).toContain("authorization.decided");
    expect(await deployed(denied.runId)).toEqual([]);
    const unproven = await seam({ scenario: "eval-gate-unmet" });
    expect(unproven).toMatchObject({ allowed: false, error: "eval_gate_unmet" });
    expect(await deployed(unproven.runId)).toEqual([]);
  });

  test("pins a channel in a run that asks by it", async () => {
    const pinned = await seam({ scenario: "channel-pin" });
    expect(pinned).toMatchObject({ resolvedAgentVersion: "1.0.0", resolvedChannel: "stable" });
    const started = (await bench.events(pinned.runId)).find(({ type }) => type === "agent.invocation.started");
    expect(started?.payload).toMatchObject({ resolvedAgentVersion: "1.0.0", resolvedChannel: "stable" });
    expect(await seam({ scenario: "channel-pin", channel: "latest" })).toMatchObject({ resolvedAgentVersion: "1.0.0" });
  });

  test("is for those who may promote, and not there without the seams", async () => {
    expectError(await bench.host.ask("POST", SEAM, { as: "viewer", json: { scenario: "promote" } }), "forbidden");
  });
});
