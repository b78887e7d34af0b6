import { beforeEach, describe, expect, test } from "vitest";
import { ADA, logOf, until } from "../../testing/engine.ts";
import { accept, calls, childOf, childrenOf, expectSound, GATE, read } from "../../testing/family.ts";
import { familyBench, is } from "../../testing/family-bench.ts";
import { change, ended } from "../../testing/workbench.ts";
import { resolveInterrupt } from "../gates/resolve-interrupt.ts";
import { pauseRun, resumeRun } from "../runs/change-run.ts";

const bench = familyBench();
const statusOf = async (runId: string) => (await read(bench.store, runId)).status;

describe("a run whose child waits for somebody", () => {
  test("shows the same, on every level, and goes on when the child does", async () => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("middle", { nodes: { deeper: calls("child") } });
    await bench.define("parent", { nodes: { call: calls("middle") } });
    bench.work(bench.host);
    const runId = await bench.start("parent");
    const middle = await childOf(bench.store, runId);
    const child = await childOf(bench.store, middle.runId);
    expect([middle.status, child.status]).toEqual(["waiting-approval", "waiting-approval"]);
    await expectSound(bench.store, runId);

    await accept(bench.host, child.runId);
    expect(await until(bench.store, runId, ended)).toMatchObject({ status: "completed" });
    await expectSound(bench.store, runId);
    const statuses = (await logOf(bench.store, runId)).filter(({ type }) => type === "assay.child.changed");
    expect(statuses.map(({ payload }) => (payload as { status: string }).status)[0]).toBe("waiting-approval");
  });

  test("fails at the node of a child that ended at a gate which wants a refinement", async () => {
    await bench.define("child", { nodes: { gate: { ...GATE, config: { actions: ["accept", "refine"] } } } });
    await bench.define("parent", { nodes: { call: calls("child"), next: "core.noop" }, edges: ["call>next"] });
    bench.work(bench.host);
    const runId = await bench.start("parent", is("waiting-approval"));
    const child = await childOf(bench.store, runId);
    const value = { action: "refine", refineFeedback: { scope: "whole" } };
    const of = { nodeId: "gate" };
    await resolveInterrupt(bench.host, { caller: ADA, runId: child.runId, of, value, record: () => undefined });
    const run = await until(bench.store, runId, ended);
    expect(await statusOf(child.runId)).toBe("completed");
    expect(run).toMatchObject({ status: "failed", error: { code: "child_failed" } });
    expect(run.error?.details).toMatchObject({ childError: { code: "approval_refined" } });
    await expectSound(bench.store, runId);
  });

  test.each([
    ["waiting-input", { typeId: "core.clarificationGate", config: { questions: [{ id: "q", question: "Why?" }] } }],
    [
      "waiting-external",
      {
        typeId: "core.interrupt",
        config: { kind: "external-event", data: { eventType: "paid", correlation: { order: 1 } } },
      },
    ],
  ] as const)("shows %s where that is what the child does", async (status, gate) => {
    await bench.define("child", { nodes: { gate } });
    await bench.define("parent", { nodes: { call: calls("child") } });
    bench.work(bench.host);
    const runId = await bench.start("parent", is(status));
    expect((await childOf(bench.store, runId)).status).toBe(status);
  });

  test("is running again while the child works on, before the child has ended", async () => {
    await bench.define("child", { nodes: { gate: GATE, act: "test.effect" }, edges: ["gate>act"] });
    await bench.define("parent", { nodes: { call: calls("child") } });
    bench.work(bench.host);
    const runId = await bench.start("parent");
    const child = await childOf(bench.store, runId);
    await accept(bench.host, child.runId);
    await bench.effect.called(1);
    expect(await statusOf(runId)).toBe("running");
    expect(await statusOf(child.runId)).toBe("running");
    bench.effect.calls[0]?.finish({ type: "completed" });
    expect((await until(bench.store, runId, ended)).status).toBe("completed");
  });

  test("shows its own gate first, and then what its children wait for", async () => {
    await bench.define("child", {
      nodes: { ask: { typeId: "core.clarificationGate", config: { questions: [{ id: "q", question: "Why?" }] } } },
    });
    await bench.define("parent", { nodes: { call: calls("child"), gate: GATE } });
    bench.work(bench.host);
    const runId = await bench.start("parent");
    await childOf(bench.store, runId, is("waiting-input"));
    expect(await statusOf(runId)).toBe("waiting-approval");
    await accept(bench.host, runId);
    await until(bench.store, runId, is("waiting-input"));
    await expectSound(bench.store, runId);
  });

  test("waits for each of several, whoever is first", async () => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("parent", { nodes: { one: calls("child"), two: calls("child"), three: calls("child") } });
    bench.work(bench.host);
    const runId = await bench.start("parent");
    for (const child of (await childrenOf(bench.store, runId)).reverse()) {
      await until(bench.store, child.runId, is("waiting-approval"));
      expect(await statusOf(runId)).toBe("waiting-approval");
      await accept(bench.host, child.runId);
      await until(bench.store, child.runId, ended);
    }
    expect((await until(bench.store, runId, ended)).status).toBe("completed");
    await expectSound(bench.store, runId);
  });

  test("shows nothing of a child that it does not wait for", async () => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("parent", {
      nodes: { call: calls("child", { waitForCompletion: false }), act: "test.effect" },
      edges: ["call>act"],
    });
    bench.work(bench.host);
    const runId = await bench.start("parent", is("running"));
    await childOf(bench.store, runId, is("waiting-approval"));
    expect(await statusOf(runId)).toBe("running");
  });
});

describe("a node that starts over", () => {
  const begun = async (runId: string) =>
    (await logOf(bench.store, runId)).filter(({ type }) => type === "node.dispatched").length;

  beforeEach(async () => {
    await bench.define("child", { nodes: { act: "test.effect", gate: GATE }, edges: ["act>gate"] });
    await bench.define("parent", { nodes: { call: calls("child", { outputMapping: { got: "answer" } }) } });
  });

  test("after a pause at once goes on with the child it has", async () => {
    bench.work(bench.host);
    const runId = await bench.start("parent", is("running"));
    await bench.effect.called(1);
    await pauseRun(bench.host, change(runId, { drainPolicy: "immediate" }));
    const child = await childOf(bench.store, runId);
    expect(child.status).toBe("running");
    await resumeRun(bench.host, change(runId));
    await until(bench.store, runId, ({ nodes }) => nodes["call"]?.status === "delegated");
    bench.effect.calls[0]?.finish({ type: "completed", variables: { answer: "yes" } });
    await until(bench.store, child.runId, is("waiting-approval"));
    await accept(bench.host, child.runId);
    expect(await until(bench.store, runId, ended)).toMatchObject({ status: "completed", variables: { got: "yes" } });
    expect([Object.keys((await read(bench.store, runId)).children).length, await begun(runId)]).toEqual([1, 1]);
    await expectSound(bench.store, runId);
  });

  test("after a pause takes what its child came to meanwhile", async () => {
    bench.work(bench.host);
    const runId = await bench.start("parent", is("running"));
    await bench.effect.called(1);
    await pauseRun(bench.host, change(runId, { drainPolicy: "immediate" }));
    bench.effect.calls[0]?.finish({ type: "completed", variables: { answer: "yes" } });
    const child = await childOf(bench.store, runId, is("waiting-approval"));
    expect(await statusOf(runId)).toBe("paused");
    await accept(bench.host, child.runId);
    await until(bench.store, child.runId, ended);
    expect(await statusOf(runId)).toBe("paused");
    await resumeRun(bench.host, change(runId));
    expect(await until(bench.store, runId, ended)).toMatchObject({ status: "completed", variables: { got: "yes" } });
    expect(await begun(runId)).toBe(1);
  });

  test("mirrors a child that began to wait while it was paused", async () => {
    bench.work(bench.host);
    const runId = await bench.start("parent", is("running"));
    await bench.effect.called(1);
    await pauseRun(bench.host, change(runId, { drainPolicy: "immediate" }));
    bench.effect.calls[0]?.finish({ type: "completed" });
    await childOf(bench.store, runId, is("waiting-approval"));
    await resumeRun(bench.host, change(runId));
    await until(bench.store, runId, is("waiting-approval"));
    const run = await until(bench.store, runId, ({ nodes }) => nodes["call"]?.status === "delegated");
    expect(Object.values(run.children)).toMatchObject([{ status: "waiting-approval" }]);
    expect(await begun(runId)).toBe(1);
  });

  test("lets a pause that drains wait for the child", async () => {
    bench.work(bench.host);
    const runId = await bench.start("parent", is("running"));
    await bench.effect.called(1);
    await pauseRun(bench.host, change(runId, { drainPolicy: "drain-current-node" }));
    expect(await statusOf(runId)).toBe("running");
    bench.effect.calls[0]?.finish({ type: "completed" });
    const child = await childOf(bench.store, runId, is("waiting-approval"));
    await accept(bench.host, child.runId);
    await until(bench.store, runId, is("paused"));
    expect((await read(bench.store, runId)).nodes["call"]?.status).toBe("completed");
  });

  test("under another worker, once its own is gone, finds its child", async () => {
    const first = bench.work(bench.host, { leaseMs: 100, renewMs: 40 });
    const runId = await bench.start("parent", is("running"));
    await bench.effect.called(1);
    await first.stop(0);
    bench.work(bench.host, { leaseMs: 100, renewMs: 40 });
    await bench.effect.called(2);
    bench.effect.calls[1]?.finish({ type: "completed" });
    const child = await childOf(bench.store, runId, is("waiting-approval"));
    await accept(bench.host, child.runId);
    expect((await until(bench.store, runId, ended)).status).toBe("completed");
    expect(await begun(runId)).toBe(1);
    await expectSound(bench.store, runId);
  });
});

describe("a worker that dies while a run waits for its child", () => {
  test("leaves it to another, which starts no second child", async () => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("parent", { nodes: { call: calls("child"), act: "test.effect" } });
    // It never renews its lease, as if it were no longer there.
    bench.work(bench.host, { leaseMs: 50, renewMs: 60_000 });
    const runId = await bench.start("parent");
    const child = await childOf(bench.store, runId);
    await bench.effect.called(1);
    bench.work(bench.host);
    await bench.effect.called(2);
    bench.effect.calls[1]?.finish({ type: "completed" });
    await accept(bench.host, child.runId);
    const run = await until(bench.store, runId, ended);
    expect(run.status).toBe("completed");
    expect(Object.keys(run.children)).toEqual([child.runId]);
    await expectSound(bench.store, runId);
  });
});

describe("a loop round a sub-workflow", () => {
  test("starts a new child on every visit", async () => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("parent", {
      nodes: {
        call: calls("child"),
        count: {
          typeId: "core.identity",
          inputs: { n: { type: "expression", expression: "variables.n + 1.0" } },
        },
      },
      edges: [
        "call>count",
        { from: "count", to: "call", condition: { type: "expression", expression: "variables.n < 3.0" } },
      ],
      variables: [{ name: "n", type: "number", defaultValue: 0 }],
    });
    bench.work(bench.host);
    const runId = await bench.start("parent");
    for (let visit = 0; visit < 3; visit++) {
      const run = await until(bench.store, runId, ({ children }) => Object.keys(children).length === visit + 1);
      const child = Object.keys(run.children).at(-1) as string;
      await until(bench.store, child, is("waiting-approval"));
      await accept(bench.host, child);
    }
    const run = await until(bench.store, runId, ended);
    expect(run).toMatchObject({ status: "completed", variables: { n: 3 } });
    expect(Object.values(run.children).map(({ visit, status }) => [visit, status])).toEqual([
      [0, "completed"],
      [1, "completed"],
      [2, "completed"],
    ]);
    await expectSound(bench.store, runId);
  });
});
