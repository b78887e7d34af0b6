import { describe, expect, test } from "vitest";
import type { Run } from "../../protocol/runs/run.ts";
import { ADA, logOf, until } from "../../testing/engine.ts";
import { accept, calls, childOf, childrenOf, expectSound, familyOf, GATE, read } from "../../testing/family.ts";
import { familyBench, is } from "../../testing/family-bench.ts";
import { change, ended } from "../../testing/workbench.ts";
import { bulkCancelRuns } from "./cancel-runs.ts";
import { cancelRun, pauseRun } from "./change-run.ts";

const bench = familyBench();
const statuses = async (runId: string) => (await familyOf(bench.store, runId)).map(({ status }) => status);

describe("cancelling a run", () => {
  test("cancels what is below it in the same commit, naming on every level the run and its node that leads there", async () => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("middle", { nodes: { deeper: calls("child") } });
    await bench.define("parent", { nodes: { call: calls("middle") } });
    const worker = bench.work(bench.host);
    const runId = await bench.start("parent");
    // Nobody is left who could do it later.
    await worker.stop(0);
    expect(await cancelRun(bench.host, change(runId, { reason: "too late" }))).toEqual({ runId, status: "cancelled" });

    const [parent, middle, child] = (await familyOf(bench.store, runId)) as [Run, Run, Run];
    const cascaded = { reason: "parent-cancelled", parentRunId: runId, cancelledBy: "ada" };
    expect(await bench.cancelledBy(parent)).toEqual({ reason: "too late", cancelledBy: "ada" });
    expect(await bench.cancelledBy(middle)).toEqual({ ...cascaded, parentNodeId: "call" });
    expect(await bench.cancelledBy(child)).toEqual({ ...cascaded, parentNodeId: "call" });
    expect(Object.values(child.interrupts)).toMatchObject([{ status: "cancelled" }]);
    await expectSound(bench.store, runId);
  });

  test("in the middle names the run it was called on, below; above, the node ends as a failure of its child", async () => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("middle", { nodes: { deeper: calls("child") } });
    await bench.define("parent", { nodes: { call: calls("middle") } });
    bench.work(bench.host);
    const runId = await bench.start("parent");
    const middle = await childOf(bench.store, runId);
    await cancelRun(bench.host, change(middle.runId));
    const parent = await until(bench.store, runId, ended);
    const child = await childOf(bench.store, middle.runId);
    expect(await bench.cancelledBy(middle)).toEqual({ cancelledBy: "ada" });
    expect(await bench.cancelledBy(child)).toMatchObject({ parentRunId: middle.runId, parentNodeId: "deeper" });
    expect(parent.error).toMatchObject({ code: "child_cancelled", details: { childRunId: middle.runId } });
    await expectSound(bench.store, runId);
  });

  test("that is a child completes the node of a parent that absorbs that", async () => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("parent", { nodes: { call: calls("child", { onChildFailure: "absorb" }) } });
    bench.work(bench.host);
    const runId = await bench.start("parent");
    const child = await childOf(bench.store, runId);
    await cancelRun(bench.host, change(child.runId));
    const parent = await until(bench.store, runId, ended);
    expect(parent.status).toBe("completed");
    expect(parent.nodes["call"]?.outputs).toMatchObject({
      childStatus: "cancelled",
      error: { code: "child_cancelled", details: { childRunId: child.runId } },
    });
  });

  test("whose child is at work lets the child go first through cancelling, with the same end", async () => {
    await bench.define("child", { nodes: { act: "test.effect" } });
    await bench.define("parent", { nodes: { call: calls("child") } });
    bench.work(bench.host);
    const runId = await bench.start("parent", is("running"));
    await bench.effect.called(1);
    expect(await cancelRun(bench.host, change(runId))).toEqual({ runId, status: "cancelled" });
    const child = await childOf(bench.store, runId, ended);
    expect(bench.effect.calls[0]?.context.signal.aborted).toBe(true);
    const asked = (await logOf(bench.store, child.runId)).find(({ type }) => type === "assay.cancel.requested");
    expect(asked?.payload).toMatchObject({ reason: "parent-cancelled", parentRunId: runId, parentNodeId: "call" });
    expect(await bench.cancelledBy(child)).toEqual({
      reason: "parent-cancelled",
      cancelledBy: "ada",
      parentRunId: runId,
      parentNodeId: "call",
    });
  });

  test("that is itself at work cancels its children at once", async () => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("parent", { nodes: { call: calls("child"), act: "test.effect" } });
    bench.work(bench.host);
    const runId = await bench.start("parent");
    await bench.effect.called(1);
    await cancelRun(bench.host, change(runId));
    expect((await childOf(bench.store, runId)).status).toBe("cancelled");
    expect((await until(bench.store, runId, ended)).status).toBe("cancelled");
    await expectSound(bench.store, runId);
  });

  test("leaves a child alone that was detached, and what is below that", async () => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("middle", { nodes: { deeper: calls("child") } });
    await bench.define("parent", {
      nodes: { tied: calls("child"), loose: calls("middle", { propagateCancellation: false }) },
    });
    bench.work(bench.host);
    const runId = await bench.start("parent");
    const [tied, loose] = (await childrenOf(bench.store, runId)) as [Run, Run];
    const deepest = await childOf(bench.store, loose.runId, is("waiting-approval"));
    await cancelRun(bench.host, change(runId));
    expect(await statuses(runId)).toEqual(["cancelled", "cancelled", "waiting-approval", "waiting-approval"]);
    await accept(bench.host, deepest.runId);
    expect((await until(bench.store, loose.runId, ended)).status).toBe("completed");
    expect((await read(bench.store, runId)).status).toBe("cancelled");
    expect((await read(bench.store, tied.runId)).status).toBe("cancelled");
  });

  test("reaches a child that nobody waits for, while the parent lives", async () => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("parent", {
      nodes: { call: calls("child", { waitForCompletion: false }), gate: GATE },
      edges: ["call>gate"],
    });
    bench.work(bench.host);
    const runId = await bench.start("parent");
    const child = await childOf(bench.store, runId, is("waiting-approval"));
    await cancelRun(bench.host, change(runId));
    expect(await bench.cancelledBy(await read(bench.store, child.runId))).toMatchObject({ parentRunId: runId });
  });

  test("reaches a child while the parent is paused", async () => {
    await bench.define("child", { nodes: { act: "test.effect" } });
    await bench.define("parent", { nodes: { call: calls("child") } });
    bench.work(bench.host);
    const runId = await bench.start("parent", is("running"));
    await bench.effect.called(1);
    await pauseRun(bench.host, change(runId, { drainPolicy: "immediate" }));
    await cancelRun(bench.host, change(runId));
    expect(await bench.cancelledBy(await childOf(bench.store, runId, ended))).toMatchObject({ parentRunId: runId });
  });

  test("twice, or after the end, changes nothing", async () => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("parent", { nodes: { call: calls("child") } });
    bench.work(bench.host);
    const runId = await bench.start("parent");
    const child = await childOf(bench.store, runId);
    await cancelRun(bench.host, change(runId));
    const family = await familyOf(bench.store, runId);
    for (const id of [runId, child.runId, runId]) {
      expect(await cancelRun(bench.host, change(id))).toEqual({ runId: id, status: "cancelled" });
    }
    expect(await familyOf(bench.store, runId)).toEqual(family);
  });

  test("that has completed leaves the children it did not wait for alone", async () => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("parent", { nodes: { call: calls("child", { waitForCompletion: false }) } });
    bench.work(bench.host);
    const runId = await bench.start("parent", is("completed"));
    const child = await childOf(bench.store, runId, is("waiting-approval"));
    expect(await cancelRun(bench.host, change(runId))).toEqual({ runId, status: "completed" });
    expect((await read(bench.store, child.runId)).status).toBe("waiting-approval");
  });

  test("together with its child in one request cancels both, the child by its parent", async () => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("parent", { nodes: { call: calls("child") } });
    bench.work(bench.host);
    for (const order of [0, 1]) {
      const runId = await bench.start("parent");
      const child = await childOf(bench.store, runId);
      const runIds = order === 0 ? [runId, child.runId] : [child.runId, runId];
      const { results } = await bulkCancelRuns(bench.host, ADA, { runIds });
      expect(results).toEqual(runIds.map((id) => ({ runId: id, ok: true, status: "cancelled" })));
      expect(await bench.cancelledBy(await read(bench.store, child.runId))).toMatchObject({ parentRunId: runId });
      await expectSound(bench.store, runId);
    }
  });

  test("with fifty children cancels each of them", async () => {
    const names = Array.from({ length: 50 }, (_, i) => `call-${i}`);
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("parent", { nodes: Object.fromEntries(names.map((name) => [name, calls("child")])) });
    bench.work(bench.host);
    const runId = await bench.start("parent");
    await Promise.all(
      (await childrenOf(bench.store, runId)).map((child) => until(bench.store, child.runId, is("waiting-approval"))),
    );
    await cancelRun(bench.host, change(runId));
    const children = await childrenOf(bench.store, runId);
    expect(children).toHaveLength(50);
    for (const [i, child] of children.entries()) {
      expect(await bench.cancelledBy(child)).toMatchObject({ parentRunId: runId, parentNodeId: names[i] });
    }
    await expectSound(bench.store, runId);
  });
});

describe("the gate of a child that was cancelled", () => {
  const answered = async (how: (runId: string, child: Run) => Promise<unknown>) => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("parent", { nodes: { call: calls("child"), act: "test.effect" } });
    bench.work(bench.host);
    const runId = await bench.start("parent");
    const child = await childOf(bench.store, runId);
    await bench.effect.called(1);
    await how(runId, child);
    await until(bench.store, child.runId, is("cancelled"));
    return accept(bench.host, child.runId);
  };

  test.each([
    ["with its parent", (runId: string) => cancelRun(bench.host, change(runId))],
    ["directly", (_: string, child: Run) => cancelRun(bench.host, change(child.runId))],
    [
      "because its parent failed",
      async () => bench.effect.calls[0]?.finish({ type: "failed", error: { code: "broken", message: "no" } }),
    ],
  ])("%s is gone", async (_, how) => {
    await expect(answered(how)).rejects.toMatchObject({ code: "interrupt_gone", status: 410 });
  });
});
