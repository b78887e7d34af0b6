import { beforeEach, describe, expect, test } from "vitest";
import type { RunEventDoc } from "../../protocol/events.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { ADA, begin, engineOn, logOf, register, until } from "../../testing/engine.ts";
import { calls, childOf, childrenOf, expectSound, read } from "../../testing/family.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { type WorkflowSpec, workflow } from "../../testing/workflow.ts";
import type { Host } from "../host.ts";

const bench = workbench();
let host: Host;

beforeEach(() => {
  host = engineOn(bench.store);
});

async function runOf(spec: WorkflowSpec, inputs: Record<string, unknown> = {}): Promise<Run> {
  const workflowId = await register(host, workflow({ id: "parent", ...spec }));
  bench.work(host);
  const runId = await begin(host, { workflowId, inputs });
  const run = await until(bench.store, runId, ended);
  await expectSound(bench.store, runId);
  return run;
}

async function eventsOf({ runId }: Run, nodeId?: string): Promise<RunEventDoc[]> {
  const log = await logOf(bench.store, runId);
  return nodeId === undefined ? log : log.filter((event) => event.nodeId === nodeId);
}

const child = (spec: Partial<WorkflowSpec> = {}) =>
  register(host, workflow({ id: "child", nodes: { only: "core.noop" }, ...spec }));

describe("a node that runs another workflow", () => {
  test("starts a run of its own, linked both ways, for the same owner", async () => {
    await child();
    const run = await runOf({ nodes: { call: calls("child") } });
    const [below] = await childrenOf(bench.store, run.runId);
    expect(run).toMatchObject({ status: "completed" });
    expect(below).toMatchObject({ status: "completed", workflowId: "child", owner: run.owner });
    expect(below?.parent).toEqual({ runId: run.runId, nodeId: "call", depth: 1, rootRunId: run.runId });
    const [started] = await eventsOf(below as Run);
    expect(started?.payload).toMatchObject({ parentRunId: run.runId, parentNodeId: "call" });
  });

  test("starts, dispatches and ends once, in this order", async () => {
    await child();
    const run = await runOf({ nodes: { call: calls("child") } });
    const [childRunId] = Object.keys(run.children);
    const events = (await eventsOf(run, "call")).filter(({ type }) => type.startsWith("node."));
    expect(events.map(({ type }) => type)).toEqual(["node.started", "node.dispatched", "node.completed"]);
    expect(events[1]?.payload).toEqual({ childRunId, childWorkflowId: "child", childStatus: "pending" });
    expect(events[2]?.payload).toMatchObject({ outputs: { childRunId, childStatus: "completed" } });
  });

  test("holds no worker while it waits, and what follows it comes after the child", async () => {
    await child({ nodes: { nap: { typeId: "core.delay", config: { ms: 20 } } } });
    const run = await runOf({ nodes: { call: calls("child"), next: "core.noop" }, edges: ["call>next"] });
    const [below] = await childrenOf(bench.store, run.runId);
    expect(Date.parse(run.nodes["next"]?.startedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(below?.endedAt ?? ""));
  });

  test("may be registered before the workflow that it runs", async () => {
    const workflowId = await register(host, workflow({ id: "parent", nodes: { call: calls("child") } }));
    await child();
    bench.work(host);
    const run = await until(bench.store, await begin(host, { workflowId }), ended);
    expect(run.status).toBe("completed");
  });

  test("that does not wait completes at once, and the child goes on by itself", async () => {
    await child({ nodes: { gate: { typeId: "core.approvalGate", config: {} } } });
    const run = await runOf({ nodes: { call: calls("child", { waitForCompletion: false }) } });
    expect(run.status).toBe("completed");
    expect(run.nodes["call"]?.outputs).toEqual({ childRunId: Object.keys(run.children)[0] });
    const below = await childOf(bench.store, run.runId, ({ status }) => status === "waiting-approval");
    expect(below.parent?.runId).toBe(run.runId);
  });
});

describe("the variables of a sub-workflow", () => {
  const received = { name: "received", type: "string", defaultValue: "by default" } as const;

  test("come from the parent's over the defaults of the child, once", async () => {
    await child({ variables: [received] });
    const run = await runOf({
      nodes: { call: calls("child", { inputMapping: { received: "given", extra: "given" } }) },
      variables: [{ name: "given", type: "string", defaultValue: "by the parent" }],
    });
    const below = await childOf(bench.store, run.runId);
    expect(below.variables).toEqual({ received: "by the parent", extra: "by the parent" });
  });

  test("have no value where the parent has none, whatever their default", async () => {
    await child({ variables: [received] });
    const run = await runOf({
      nodes: { call: calls("child", { inputMapping: { received: "given", other: "undeclared" } }) },
      variables: [{ name: "given", type: "string" }],
    });
    expect((await childOf(bench.store, run.runId)).variables).toEqual({});
  });

  test("come back as the parent asks for them, when the child has completed", async () => {
    await child({
      nodes: { say: { typeId: "core.identity", inputs: { answer: { type: "static", value: 42 } } } },
      variables: [{ name: "unasked", type: "string", defaultValue: "x".repeat(1000) }],
    });
    const run = await runOf({
      nodes: { call: calls("child", { outputMapping: { result: "answer", same: "answer", none: "absent" } }) },
    });
    expect(run.variables).toEqual({ result: 42, same: 42 });
  });

  test("that nobody asked for stay out of the parent, and what came back is held once", async () => {
    await child({ variables: [{ name: "unasked", type: "string", defaultValue: "very long" }] });
    const run = await runOf({ nodes: { call: calls("child") } });
    expect(JSON.stringify([run, await eventsOf(run)])).not.toContain("very long");
    expect(Object.values(run.children)[0]).not.toHaveProperty("result");
  });

  test("do not come back from a child that failed", async () => {
    await child({
      nodes: {
        say: { typeId: "core.identity", inputs: { answer: { type: "static", value: 42 } } },
        no: "core.fail",
      },
      edges: ["say>no"],
    });
    const mapping = { outputMapping: { result: "answer" }, onChildFailure: "absorb" };
    expect((await runOf({ nodes: { call: calls("child", mapping) } })).variables).toEqual({});
  });

  test("may have the names that every object has", async () => {
    const names = ["constructor", "__proto__", "toString"];
    const same = Object.fromEntries(names.map((name) => [name, name]));
    await child();
    const variables = names.map((name) => ({ name, type: "string" as const, defaultValue: `of ${name}` }));
    const run = await runOf({
      nodes: { call: calls("child", { inputMapping: same, outputMapping: same }) },
      variables,
    });
    const below = await childOf(bench.store, run.runId);
    expect(Object.entries(below.variables)).toEqual(names.map((name) => [name, `of ${name}`]));
  });
});

describe("a child that fails", () => {
  const failing = { nodes: { no: { typeId: "core.fail", config: { message: "out of ink" } } } };

  test("fails its node and the parent, naming the child", async () => {
    await child(failing);
    const run = await runOf({ nodes: { call: calls("child") } });
    const [childRunId] = Object.keys(run.children);
    expect(run).toMatchObject({ status: "failed", error: { code: "child_failed", message: "out of ink" } });
    expect(run.error?.details).toMatchObject({ childRunId, childError: { code: "node_failed" } });
    const ends = (await eventsOf(run, "call")).filter(({ type }) => /^node\.(completed|failed|cancelled)$/.test(type));
    expect(ends.map(({ type }) => type)).toEqual(["node.failed"]);
  });

  test("is handled by an edge that expects a failure", async () => {
    await child(failing);
    const run = await runOf({
      nodes: { call: calls("child"), sorry: "core.noop" },
      edges: [{ from: "call", to: "sorry", triggerRule: "any_failed" }],
    });
    expect(run).toMatchObject({ status: "completed", nodes: { sorry: { status: "completed" } } });
  });

  test("is absorbed where the node says so", async () => {
    await child(failing);
    const run = await runOf({ nodes: { call: calls("child", { onChildFailure: "absorb" }) } });
    const [childRunId] = Object.keys(run.children);
    expect(run.status).toBe("completed");
    const { outputs } = run.nodes["call"] ?? {};
    expect(outputs).toMatchObject({ childStatus: "failed", error: { code: "child_failed", details: { childRunId } } });
  });

  test("does not matter to a parent that does not wait for it", async () => {
    await child(failing);
    const run = await runOf({ nodes: { call: calls("child", { waitForCompletion: false }) } });
    await childOf(bench.store, run.runId, ({ status }) => status === "failed");
    expect(await read(bench.store, run.runId)).toEqual(run);
  });
});

describe("a child that cannot be started", () => {
  const fails = async (code: string) => {
    const run = await runOf({ nodes: { call: calls("child") } });
    expect(run).toMatchObject({ status: "failed", error: { code } });
    expect(run.children).toEqual({});
    expect((await eventsOf(run, "call")).map(({ type }) => type)).toEqual(["node.started", "node.failed"]);
    return run.error?.message;
  };

  test("because nobody registered it fails its node", async () => {
    expect(await fails("child_not_started")).toContain("no workflow of that name");
  });

  test("because it belongs to another tenant fails its node the same way", async () => {
    await register(host, workflow({ id: "child", nodes: { a: "core.noop" } }), { ...ADA, tenant: "t2" });
    expect(await fails("child_not_started")).toContain("no workflow of that name");
  });

  test.each([{ isActive: false }, { status: "draft" as const }])(
    "because it is switched off (%o) fails its node",
    async (off) => {
      await child(off as never);
      expect(await fails("child_not_started")).toContain("not active");
    },
  );

  test("because of its inputs fails its node with what is wrong", async () => {
    await child({ variables: [{ name: "needed", type: "string", required: true }] });
    expect(await fails("child_not_started")).toContain("needed is required");
  });
});

describe("a workflow that runs itself", () => {
  test("ends at the sixteenth level below the first, and every level above fails by it", async () => {
    const run = await runOf({ nodes: { again: calls("parent") } });
    let deepest = run;
    let levels = 0;
    for (let [below] = await childrenOf(bench.store, run.runId); below !== undefined; levels++) {
      expect(below.status).toBe("failed");
      deepest = below;
      [below] = await childrenOf(bench.store, below.runId);
    }
    expect(levels).toBe(16);
    expect(deepest).toMatchObject({ parent: { depth: 16, rootRunId: run.runId } });
    expect(deepest.error?.code).toBe("subworkflow_depth_exceeded");
    expect(run.error?.code).toBe("child_failed");
  });
});
