import { beforeEach, describe, expect, test } from "vitest";
import type { RunEventDoc } from "../../protocol/events.ts";
import { CHAIN_EVENT } from "../../protocol/runs/orchestrator.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { ADA, begin, engineOn, logOf, register, until } from "../../testing/engine.ts";
import { accept, childOf, childrenOf, expectSound, GATE } from "../../testing/family.ts";
import { DONE, next, type Orchestrated, orchestrated } from "../../testing/orchestration.ts";
import { change, ended, workbench } from "../../testing/workbench.ts";
import { type WorkflowSpec, workflow } from "../../testing/workflow.ts";
import { resolveInterrupt } from "../gates/resolve-interrupt.ts";
import type { Host } from "../host.ts";
import { cancelRun } from "../runs/change-run.ts";
import { forkRun } from "../runs/fork-run.ts";

const bench = workbench();
let host: Host;

beforeEach(() => {
  host = engineOn(bench.store);
});

const worker = (id: string, spec: Partial<WorkflowSpec> = {}) =>
  register(host, workflow({ id, nodes: { only: "core.noop" }, ...spec }));

const says = (name: string, defaultValue: unknown) =>
  ({ variables: [{ name, type: "string", defaultValue }] }) as Partial<WorkflowSpec>;

async function start(spec: Orchestrated, request: object = {}): Promise<string> {
  const workflowId = await register(host, orchestrated(spec));
  bench.work(host);
  return begin(host, { workflowId, ...request });
}

async function led(spec: Orchestrated, request: object = {}): Promise<Run> {
  const runId = await start(spec, request);
  const run = await until(bench.store, runId, ended);
  await expectSound(bench.store, runId);
  return run;
}

const typed = async ({ runId }: Pick<Run, "runId">, type: string): Promise<RunEventDoc[]> =>
  (await logOf(bench.store, runId)).filter((event) => event.type === type);

const phases = async (run: Pick<Run, "runId">) =>
  (await typed(run, CHAIN_EVENT)).map(({ payload }) => (payload as { phase: string }).phase);

describe("a dispatch", () => {
  test("runs the worker that was decided on, and the loop goes round until the supervisor ends it", async () => {
    await worker("one");
    await worker("two");
    const run = await led({ plan: [next("one"), next("two"), next("one"), DONE] });
    expect(run).toMatchObject({ status: "completed", outputs: { kind: "terminate", reason: "done" } });
    const children = await childrenOf(bench.store, run.runId);
    expect(children.map(({ workflowId, status }) => [workflowId, status])).toEqual([
      ["one", "completed"],
      ["two", "completed"],
      ["one", "completed"],
    ]);
    const decided = await typed(run, "runOrchestrator.decided");
    expect(decided.map(({ payload }) => (payload as { decision: unknown }).decision)).toEqual([
      next("one"),
      next("two"),
      next("one"),
      DONE,
    ]);
  });

  test("is not bound by the limit of other loops, unless the workflow sets one", async () => {
    await worker("one");
    const plan = [...Array.from({ length: 8 }, () => next("one")), DONE];
    expect(await led({ plan })).toMatchObject({ status: "completed" });
    const bound = await led({ id: "bound", plan, settings: { maxLoopbackIterations: 3 } });
    expect(bound).toMatchObject({ status: "failed", error: { code: "loop_limit_exceeded" } });
    expect(Object.keys(bound.children)).toHaveLength(4);
  });

  test("lets what follows it run once the loop has ended, and not before", async () => {
    await worker("one");
    const run = await led({ plan: [next("one"), DONE], nodes: { report: "core.noop" }, edges: ["do>report"] });
    expect(run).toMatchObject({ status: "completed", nodes: { report: { status: "completed" } } });
    const started = await typed(run, "node.started");
    expect(started.map(({ nodeId }) => nodeId)).toEqual(["boss", "do", "boss", "do", "report"]);
  });

  test("leaves the workflow of its run as it was", async () => {
    await worker("one");
    const run = await led({ plan: [next("one"), DONE] });
    expect(Object.keys(run.nodes)).toEqual(["boss", "do"]);
    expect(run.workflowHash).toBe((await host.plans.current("t1", "led"))?.hash);
  });
});

describe("variables", () => {
  test("go into a worker by the mapping, and one without a value leaves the worker's without one", async () => {
    await worker("one", says("greeting", "hello"));
    const run = await led({
      plan: [next("one"), DONE],
      dispatch: { inputMapping: { who: "name", greeting: "unset" } },
      variables: [
        { name: "name", type: "string", defaultValue: "Ida" },
        { name: "unset", type: "string" },
      ],
    });
    const child = await childOf(bench.store, run.runId);
    expect(child).toMatchObject({ inputs: { who: "Ida" } });
    expect(child.variables).toEqual({ who: "Ida" });
  });

  test("come back from a worker that completed, and from no other", async () => {
    await worker("good", says("word", "yes"));
    await worker("bad", { ...says("word", "no"), nodes: { no: "core.fail" } });
    const dispatch = { outputMapping: { result: "word" } };
    const variables = [{ name: "result", type: "string", defaultValue: "as before" }] as const;
    const good = await led({ plan: [next("good"), DONE], dispatch, variables: [...variables] });
    expect(good.variables).toEqual({ result: "yes" });
    const bad = await led({ id: "led-badly", plan: [next("bad"), DONE], dispatch, variables: [...variables] });
    expect(bad).toMatchObject({ status: "completed", variables: { result: "as before" } });
    expect(await phases(bad)).toEqual(["dispatch.began", "dispatch.succeeded", "child.failed"]);
  });

  test("are handed from worker to worker of one decision, each by its own mapping or the common one", async () => {
    await worker("first", says("found", "a clue"));
    await worker("second", says("found", "the answer"));
    const run = await led({
      plan: [next("first", "second"), DONE],
      dispatch: {
        inputMapping: { task: "task" },
        perWorkerInputMappings: { second: { clue: "shared" } },
        perWorkerOutputMappings: { first: { shared: "found" }, second: { result: "found" } },
      },
      variables: [{ name: "task", type: "string", defaultValue: "find it" }],
    });
    const [first, second] = await childrenOf(bench.store, run.runId);
    expect(first?.inputs).toEqual({ task: "find it" });
    expect(second?.inputs).toEqual({ clue: "a clue" });
    expect(run.variables).toEqual({ task: "find it", shared: "a clue", result: "the answer" });
    expect(Date.parse(second?.startedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(first?.endedAt ?? ""));
  });

  test("that are kept from sight stay so on both sides", async () => {
    await worker("first", {
      variables: [{ name: "key", type: "string", sensitive: true, defaultValue: "the-hidden-word" }],
    });
    await worker("second");
    const run = await led({
      plan: [next("first", "second"), DONE],
      dispatch: {
        perWorkerOutputMappings: { first: { shared: "key" } },
        perWorkerInputMappings: { second: { given: "shared" } },
      },
    });
    const [, second] = await childrenOf(bench.store, run.runId);
    expect(second?.inputs).toEqual({ given: "the-hidden-word" });
    for (const { runId } of [run, second as Run]) {
      expect(JSON.stringify(await logOf(bench.store, runId))).not.toContain("the-hidden-word");
    }
  });
});

describe("handing out work", () => {
  test("is told step by step, each caused by the one before", async () => {
    await worker("one", says("word", "yes"));
    const run = await led({ plan: [next("one"), DONE], dispatch: { outputMapping: { result: "word" } } });
    const chain = await typed(run, CHAIN_EVENT);
    expect(await phases(run)).toEqual(["dispatch.began", "dispatch.succeeded", "child.completed", "output.harvested"]);
    const [childRunId] = Object.keys(run.children);
    const [decision] = await typed(run, "runOrchestrator.decided");
    expect(chain.map(({ causationId }) => causationId)).toEqual([
      decision?.eventId,
      ...chain.slice(0, -1).map(({ eventId }) => eventId),
    ]);
    expect(chain.at(-1)?.payload).toEqual({
      phase: "output.harvested",
      workerId: "one",
      parentRunId: run.runId,
      childRunId,
      harvestedKeys: ["result"],
    });
    expect(chain[0]?.payload).not.toHaveProperty("childRunId");
  });

  test("is caused by the decision of its own run in a replay as well, wherever the replay begins", async () => {
    await worker("one");
    const run = await led({ plan: [next("one"), DONE] });
    const log = await logOf(bench.store, run.runId);
    const decided = log.findIndex(({ type }) => type === "runOrchestrator.decided");
    for (const fromSeq of [0, decided + 1]) {
      const { runId } = await forkRun(host, { ...change(run.runId), request: { mode: "replay", fromSeq } });
      await until(bench.store, runId, ended);
      const [decision] = await typed({ runId }, "runOrchestrator.decided");
      const [began] = await typed({ runId }, CHAIN_EVENT);
      expect(began).toMatchObject({ causationId: decision?.eventId, runId });
    }
  });

  test("to a workflow that is not there fails, and says so first", async () => {
    const run = await led({ plan: [next("nobody"), DONE] });
    expect(run).toMatchObject({ status: "failed", error: { code: "child_not_started" } });
    expect(await phases(run)).toEqual(["dispatch.began", "dispatch.failed"]);
    expect(run.children).toEqual({});
  });

  test("to several at once is refused where the dispatch takes one at a time", async () => {
    await worker("one");
    const run = await led({ plan: [next("one", "one"), DONE], dispatch: { fanOutPolicy: "reject" } });
    expect(run).toMatchObject({ status: "failed", error: { code: "fan_out_unsupported" }, children: {} });
    const single = await led({ id: "single", plan: [next("one"), DONE], dispatch: { fanOutPolicy: "reject" } });
    expect(single.status).toBe("completed");
  });

  test("stops at the worker that fails, and leaves it to the supervisor what to do", async () => {
    await worker("good");
    await worker("bad", { nodes: { no: { typeId: "core.fail", config: { code: "too_hard", message: "no" } } } });
    const runId = await start({ plan: [next("good", "bad", "good"), next("good"), DONE] });
    const run = await until(bench.store, runId, ended);
    expect(run.status).toBe("completed");
    const children = await childrenOf(bench.store, runId);
    expect(children.map(({ workflowId }) => workflowId)).toEqual(["good", "bad", "good"]);
    const [first] = (await typed(run, "node.completed")).filter(({ nodeId }) => nodeId === "do");
    expect(first?.payload).toMatchObject({
      outputs: {
        workerId: "bad",
        childRunId: children[1]?.runId,
        childStatus: "failed",
        error: { code: "child_failed", details: { childError: { code: "too_hard" } } },
        notStarted: ["good"],
      },
    });
  });
});

describe("a dispatch that no loop leads back from", () => {
  const once = { loop: false, nodes: { publish: "core.noop" }, edges: ["do>publish"] };

  test("fails with its worker, and nothing follows it", async () => {
    await worker("good");
    await worker("bad", { nodes: { no: "core.fail" } });
    const run = await led({ ...once, plan: [next("good", "bad", "good")] });
    expect(run).toMatchObject({ status: "failed", error: { code: "child_failed" } });
    expect(run.nodes["publish"]?.status).not.toBe("completed");
    expect(await led({ ...once, id: "well", plan: [next("good")] })).toMatchObject({ status: "completed" });
  });

  test("hands its failure to an edge that expects one", async () => {
    await worker("bad", { nodes: { no: "core.fail" } });
    const edges = ["do>publish", { from: "do", to: "alarm", triggerRule: "any_failed" as const }];
    const nodes = { publish: "core.noop", alarm: "core.noop" };
    const run = await led({ loop: false, nodes, edges, plan: [next("bad")] });
    expect(run).toMatchObject({
      status: "completed",
      nodes: { publish: { status: "skipped" }, alarm: { status: "completed" } },
    });
  });
});

describe("a dispatch whose loop does not come back to the supervisor", () => {
  const done = { type: "equals", left: "output.childStatus", right: "completed" } as const;
  const publish = "core.noop";
  const directly = { nodes: { publish }, edges: [{ from: "do", to: "boss", condition: done }, "do>publish"] };

  test.each<readonly [string, Partial<WorkflowSpec>]>([
    ["the edge back asks for more", directly],
    [
      "the edge on is for all that the edge back is not for",
      {
        nodes: { publish },
        edges: [
          { from: "do", to: "boss", condition: done },
          { from: "do", to: "publish", condition: { ...done, type: "notEquals" } },
        ],
      },
    ],
    [
      "the edge back of a later node does",
      {
        nodes: { sum: "core.noop", publish },
        edges: ["do>sum", { from: "sum", to: "boss", condition: done }, "sum>publish"],
      },
    ],
    [
      "the loop is another one",
      {
        nodes: { draft: "core.noop", check: "core.noop", publish },
        edges: ["draft>check", { from: "check", to: "draft", condition: done }, "check>boss", "do>publish"],
      },
    ],
  ])("fails with its worker, and nothing comes after it, where %s", async (_, spec) => {
    await worker("bad", { nodes: { no: "core.fail" } });
    const run = await led({ ...spec, loop: false, plan: [next("bad")] });
    expect(run).toMatchObject({ status: "failed", error: { code: "child_failed" } });
    expect(run.nodes["publish"]?.status).not.toBe("completed");
  });

  test("goes on with an edge that asks for just that, or expects a failure", async () => {
    await worker("bad", { nodes: { no: "core.fail" } });
    const more = [
      { from: "do", to: "report", condition: { type: "truthy" as const, left: "output.error" } },
      { from: "do", to: "alarm", triggerRule: "any_failed" as const },
    ];
    const nodes = { publish, report: "core.noop", alarm: "core.noop" };
    const run = await led({ nodes, edges: [...directly.edges, ...more], loop: false, plan: [next("bad")] });
    const [completed, skipped] = [{ status: "completed" }, { status: "skipped" }];
    expect(run).toMatchObject({ ...completed, nodes: { publish: skipped, report: completed, alarm: completed } });
  });

  test("lets what comes after it begin once the supervisor has decided again", async () => {
    await worker("bad", { nodes: { no: "core.fail" } });
    const run = await led({ nodes: { publish }, edges: ["do>publish"], plan: [next("bad"), DONE] });
    expect(run).toMatchObject({ status: "completed", nodes: { publish: { status: "completed" } } });
  });
});

test("a dispatch asks about the decision of its own round, also where it need not wait for the supervisor", async () => {
  await worker("harmless", {
    nodes: { mark: { typeId: "core.identity", inputs: { again: { type: "static", value: true } } } },
  });
  await worker("harmful");
  const unsure = (id: string) => ({ ...next(id), confidence: 0.1 });
  const again = { type: "truthy", left: "variables.again" } as const;
  const led = workflow({
    id: "hasty",
    nodes: {
      entry: "core.noop",
      boss: {
        typeId: "core.orchestrator.supervisor",
        config: { mockDispatchPlan: [unsure("harmless"), unsure("harmful")] },
      },
      do: { typeId: "core.dispatch", config: { outputMapping: { again: "again" } } },
      tick: "core.noop",
    },
    edges: [
      "entry>boss",
      { from: "boss", to: "do", triggerRule: "any_success" },
      // In the second round the dispatch does not wait for the supervisor.
      { from: "tick", to: "do", triggerRule: "any_success", condition: again },
      "do>boss",
    ],
    variables: [{ name: "again", type: "boolean" }],
  });
  bench.work(host);
  const runId = await begin(host, { workflowId: await register(host, led) });
  const asksAgain = async (times: number): Promise<string> => {
    const asks = (run: Run) => Object.keys(run.interrupts).length === times && run.status === "waiting-input";
    const run = await until(bench.store, runId, asks);
    return JSON.stringify(Object.values(run.interrupts).at(-1)?.data);
  };
  expect(await asksAgain(1)).toContain("run harmless,");
  const value = { answers: { proceed: "yes" } };
  await resolveInterrupt(host, { caller: ADA, runId, of: { nodeId: "do" }, value, record: () => undefined });
  expect(await asksAgain(2)).toContain("run harmful,");
});

describe("a later node of the loop of a supervisor", () => {
  const publish = { typeId: "core.identity", inputs: { published: { type: "static", value: true } } } as const;
  const between = { nodes: { publish }, edges: ["do>publish", "publish>boss"] };
  /** How often nodes of this id completed, and were skipped. */
  const times = async (run: Run, nodeId: string) => {
    const log = await logOf(bench.store, run.runId);
    const count = (type: string) => log.filter((event) => event.type === type && event.nodeId === nodeId).length;
    return { completed: count("node.completed"), skipped: count("node.skipped") };
  };

  test("is passed over after a worker that failed, and the supervisor decides again", async () => {
    await worker("good");
    await worker("bad", { nodes: { no: "core.fail" } });
    const plan = [next("bad"), next("good")];
    const run = await led({ ...between, loop: false, plan, settings: { maxLoopbackIterations: 2 } });
    // A loop without a condition ends at its limit: after the second decision, and after the third, which ends the plan.
    expect(run).toMatchObject({ status: "failed", error: { code: "loop_limit_exceeded" } });
    expect(await typed(run, "runOrchestrator.decided")).toHaveLength(3);
    expect(await times(run, "publish")).toEqual({ completed: 2, skipped: 1 });
  });

  test("is passed over after a question that was answered with no", async () => {
    await worker("good");
    const unsure = { ...next("good"), confidence: 0.1 };
    const back = { from: "publish", to: "boss", condition: { type: "truthy" as const, left: "output.published" } };
    const runId = await start({ nodes: { publish }, edges: ["do>publish", back], loop: false, plan: [unsure] });
    await until(bench.store, runId, ({ status }) => status === "waiting-input");
    const value = { answers: { proceed: "no" } };
    await resolveInterrupt(host, { caller: ADA, runId, of: { nodeId: "do" }, value, record: () => undefined });
    const run = await until(bench.store, runId, ended);
    expect(run).toMatchObject({ status: "failed", error: { code: "approval_rejected" }, children: {} });
    expect(await times(run, "publish")).toEqual({ completed: 0, skipped: 1 });
  });

  test("begins where its edge asks for a worker that failed, or expects a failure", async () => {
    await worker("bad", { nodes: { no: "core.fail" } });
    const onError = { from: "do", to: "publish", condition: { type: "truthy" as const, left: "output.error" } };
    for (const [id, edge] of Object.entries({
      selects: onError,
      expects: { from: "do", to: "publish", triggerRule: "all_complete" as const },
    })) {
      const edges = [edge, "publish>boss"];
      const more = { settings: { maxLoopbackIterations: 1 }, loop: false, plan: [next("bad")] };
      const run = await led({ id, nodes: { publish }, edges, ...more });
      expect((await times(run, "publish")).completed, id).toBeGreaterThan(0);
    }
  });
});

describe("a worker that waits", () => {
  test("is waited for, and can be cancelled by itself without ending the run", async () => {
    await worker("slow", { nodes: { gate: GATE } });
    const runId = await start({ plan: [next("slow", "slow"), DONE], dispatch: { outputMapping: { got: "word" } } });
    const child = await childOf(bench.store, runId, ({ status }) => status === "waiting-approval");
    expect(await until(bench.store, runId, ({ status }) => status === "waiting-approval")).toBeDefined();
    await cancelRun(host, change(child.runId));
    const run = await until(bench.store, runId, ended);
    expect(run.status).toBe("completed");
    expect(await phases(run)).toEqual(["dispatch.began", "dispatch.succeeded", "child.cancelled"]);
    expect(Object.keys(run.children)).toEqual([child.runId]);
    const [first] = (await typed(run, "node.completed")).filter(({ nodeId }) => nodeId === "do");
    expect(first?.payload).toMatchObject({
      outputs: { childStatus: "cancelled", error: { code: "child_cancelled" }, notStarted: ["slow"] },
    });
  });

  test("ends with the run that handed it out", async () => {
    await worker("slow", { nodes: { gate: GATE } });
    const runId = await start({ plan: [next("slow"), DONE] });
    const child = await childOf(bench.store, runId, ({ status }) => status === "waiting-approval");
    await cancelRun(host, change(runId));
    expect(await until(bench.store, child.runId, ended)).toMatchObject({ status: "cancelled" });
    expect(await until(bench.store, runId, ended)).toMatchObject({ status: "cancelled" });
  });

  test("is gone on with by another worker process, and no second one is started", async () => {
    await worker("slow", { nodes: { gate: GATE } });
    const workflowId = await register(host, orchestrated({ plan: [next("slow", "slow"), DONE] }));
    const before = bench.work(host);
    const runId = await begin(host, { workflowId });
    const first = await childOf(bench.store, runId, ({ status }) => status === "waiting-approval");
    await before.stop(0);
    bench.work(host);
    await accept(host, first.runId);
    const { children } = await until(bench.store, runId, (run) => Object.keys(run.children).length === 2);
    const second = Object.keys(children)[1] as string;
    await until(bench.store, second, ({ status }) => status === "waiting-approval");
    await accept(host, second);
    const run = await until(bench.store, runId, ended);
    expect(run.status).toBe("completed");
    expect(Object.keys(run.children)).toEqual([first.runId, second]);
    await expectSound(bench.store, runId);
  });
});
