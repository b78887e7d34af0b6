import { describe, expect, test } from "vitest";
import type { Run } from "../../protocol/runs/run.ts";
import { begin, logOf, until } from "../../testing/engine.ts";
import { accept, calls, childOf, childrenOf, expectSound, familyOf, GATE } from "../../testing/family.ts";
import { familyBench, is } from "../../testing/family-bench.ts";
import { ended } from "../../testing/workbench.ts";
import type { Host } from "../host.ts";

const bench = familyBench();

describe("the end of a run that was not asked for", () => {
  const failed = (runId: string, parentNodeId: string) => ({
    reason: "parent-failed",
    parentRunId: runId,
    parentNodeId,
    cancelledBy: "system",
  });

  test("ends its children when it fails, on every level", async () => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("middle", { nodes: { deeper: calls("child") } });
    await bench.define("parent", { nodes: { call: calls("middle"), act: "test.effect" } });
    bench.work(bench.host);
    const runId = await bench.start("parent");
    bench.effect.calls[0]?.finish({ type: "failed", error: { code: "broken", message: "no" } });
    await until(bench.store, runId, is("failed"));
    const [, middle, child] = (await familyOf(bench.store, runId)) as [Run, Run, Run];
    expect(await bench.cancelledBy(middle)).toEqual(failed(runId, "call"));
    expect(await bench.cancelledBy(child)).toEqual(failed(runId, "call"));
    await expectSound(bench.store, runId);
  });

  test("ends its children when its time is up", async () => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("parent", { nodes: { call: calls("child") }, settings: { timeout: 300 } });
    bench.work(bench.host);
    const runId = await bench.start("parent");
    expect((await until(bench.store, runId, ended)).error?.code).toBe("run_timeout");
    expect(await bench.cancelledBy(await childOf(bench.store, runId))).toEqual(failed(runId, "call"));
  });

  test("ends a child that it dispatches in the very turn in which it fails", async () => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("parent", { nodes: { call: calls("child"), no: "core.fail" } });
    bench.work(bench.host);
    const runId = await bench.start("parent", is("failed"));
    const child = await childOf(bench.store, runId);
    expect(await bench.cancelledBy(child)).toEqual(failed(runId, "call"));
    expect((await logOf(bench.store, child.runId)).map(({ type }) => type)).toEqual(["run.started", "run.cancelled"]);
    await expectSound(bench.store, runId);
  });

  test("by one child ends the others", async () => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("parent", { nodes: { one: calls("child"), two: calls("child") } });
    bench.work(bench.host);
    const runId = await bench.start("parent");
    const [one, two] = (await childrenOf(bench.store, runId)) as [Run, Run];
    await until(bench.store, one.runId, is("waiting-approval"));
    await accept(bench.host, one.runId, "gate", "reject");
    expect((await until(bench.store, runId, ended)).error).toMatchObject({ code: "child_failed" });
    expect(await bench.cancelledBy(await until(bench.store, two.runId, ended))).toEqual(failed(runId, "two"));
  });

  /** A host that cannot read the definition of one workflow any more. */
  async function broken(workflowId: string): Promise<Host> {
    const lost = (await bench.host.plans.current("t1", workflowId))?.hash;
    const byHash: Host["plans"]["byHash"] = async (hash) => {
      if (hash === lost) throw new Error("no such definition");
      return bench.host.plans.byHash(hash);
    };
    return { ...bench.host, plans: { ...bench.host.plans, byHash } };
  }
  const impatient = { leaseMs: 20, renewMs: 60_000, onError: () => {} };

  test("ends its children when no host can execute it", async () => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("parent", {
      nodes: { call: calls("child"), nap: { typeId: "core.delay", config: { ms: 100 } } },
    });
    const worker = bench.work(bench.host);
    const runId = await bench.start("parent");
    await worker.stop(0);
    bench.work(await broken("parent"), impatient);
    expect((await until(bench.store, runId, ended)).error?.code).toBe("run_dead_lettered");
    expect(await bench.cancelledBy(await childOf(bench.store, runId))).toEqual(failed(runId, "call"));
    await expectSound(bench.store, runId);
  });

  test("is told to the parent when no host can execute the child", async () => {
    await bench.define("child", { nodes: { only: "core.noop" } });
    await bench.define("parent", { nodes: { call: calls("child") } });
    bench.work(await broken("child"), impatient);
    const runId = await begin(bench.host, { workflowId: "parent" });
    const run = await until(bench.store, runId, ended);
    expect(run.error).toMatchObject({ code: "child_failed", details: { childError: { code: "run_dead_lettered" } } });
    await expectSound(bench.store, runId);
  });

  test("leaves a detached child alone", async () => {
    await bench.define("child", { nodes: { gate: GATE } });
    await bench.define("parent", {
      nodes: { call: calls("child", { propagateCancellation: false }), act: "test.effect" },
    });
    bench.work(bench.host);
    const runId = await bench.start("parent");
    bench.effect.calls[0]?.finish({ type: "failed", error: { code: "broken", message: "no" } });
    await until(bench.store, runId, is("failed"));
    expect((await childOf(bench.store, runId)).status).toBe("waiting-approval");
  });
});
