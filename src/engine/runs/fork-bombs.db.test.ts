import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { Store } from "../../store/port/store.ts";
import { BOTH_STORES } from "../../testing/both-stores.ts";
import { ADA, begin, engineOn, register, scriptedEffect, until, workerOn } from "../../testing/engine.ts";
import { eventually } from "../../testing/eventually.ts";
import { calls, GATE } from "../../testing/family.ts";
import { expectAllRebuilt } from "../../testing/rebuilt.ts";
import { ended } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import type { Host } from "../host.ts";
import type { Worker, WorkerSettings } from "../worker/worker.ts";
import { cancelRuns } from "./cancel-runs.ts";

const EVE: Caller = { ...ADA, tenant: "t2", principal: "eve", keyId: "key-eve" };
const DETACHED = { waitForCompletion: false, propagateCancellation: false };

describe.each(BOTH_STORES)("runs that multiply, on %s", (_, open) => {
  let opened: Awaited<ReturnType<typeof open>>;
  let store: Store;
  let workers: Worker[] = [];

  beforeEach(async () => {
    opened = await open();
    store = opened.store;
  });
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.stop(0)));
    workers = [];
    await store.close();
    await opened.drop();
  });

  function hostWith(limits: { maxActiveRuns?: number; maxDescendants?: number }, host = engineOn(store)): Host {
    return { ...host, limits: { maxNodeExecutions: 1000, maxActiveRuns: 10_000, maxDescendants: 10_000, ...limits } };
  }

  function work(host: Host, settings: Partial<WorkerSettings> = {}): Host {
    const worker = workerOn(host, settings);
    workers.push(worker);
    return { ...host, localWorker: worker };
  }

  async function all(tenant = "t1"): Promise<Run[]> {
    return store.listRuns({ tenant }, { limit: 10_000 });
  }

  /** Starts itself twice, detached. */
  const bomb = workflow({ id: "bomb", nodes: { a: calls("bomb", DETACHED), b: calls("bomb", DETACHED) } });
  const allEnded = async () => (await all()).every(({ status }) => isTerminal(status));

  test("a workflow that starts itself twice stops at the limit of its root, and the nodes beyond it fail", async () => {
    const host = work(hostWith({ maxDescendants: 25 }));
    await register(host, bomb);
    const rootRunId = await begin(host, { workflowId: "bomb" });
    await eventually(async () => expect((await all()).length === 26 && (await allEnded())).toBe(true));
    expect((await store.countedRuns()).descendants).toEqual({ [rootRunId]: 25 });
    const failed = (await all()).filter(({ status }) => status === "failed");
    expect(failed.length).toBeGreaterThan(0);
    for (const { error } of failed) expect(error).toMatchObject({ code: "descendant_limit" });
    await expectAllRebuilt(store);
  });

  test("two workers that share a family do not pass its limit together", async () => {
    const host = hostWith({ maxDescendants: 40 });
    await register(host, bomb);
    for (const _one of [1, 2]) work(host);
    await begin(host, { workflowId: "bomb" });
    await eventually(async () => expect((await all()).length === 41 && (await allEnded())).toBe(true));
    await expectAllRebuilt(store);
  });

  test("the limit of one root does not touch the runs of another", async () => {
    const host = work(hostWith({ maxDescendants: 1 }));
    await register(host, workflow({ id: "leaf", nodes: { only: "core.noop" } }));
    await register(host, workflow({ id: "one", nodes: { a: calls("leaf") } }));
    for (const _one of [1, 2, 3]) {
      const runId = await begin(host, { workflowId: "one" });
      expect(await until(store, runId, ended)).toMatchObject({ status: "completed" });
    }
  });

  test("a workflow can handle the failure of a child that was one too many", async () => {
    const host = work(hostWith({ maxDescendants: 1 }));
    await register(host, workflow({ id: "leaf", nodes: { only: "core.noop" } }));
    const nodes = { a: calls("leaf"), b: calls("leaf"), instead: "core.noop" };
    const edges = ["a>b", { from: "b", to: "instead", triggerRule: "all_complete" as const }];
    await register(host, workflow({ id: "careful", nodes, edges }));
    const run = await until(store, await begin(host, { workflowId: "careful" }), ended);
    expect(run.nodes["b"]?.error).toMatchObject({ code: "descendant_limit" });
  });

  test("children beyond the runs that a tenant may have fail, and creations are refused with tenant_run_limit", async () => {
    const host = work(hostWith({ maxActiveRuns: 2 }));
    await register(host, workflow({ id: "waits", nodes: { gate: GATE } }));
    const nodes = { a: calls("waits", DETACHED), b: calls("waits", DETACHED), gate: GATE };
    await register(host, workflow({ id: "parent", nodes }));
    const run = await until(store, await begin(host, { workflowId: "parent" }), ({ nodes }) => "b" in nodes);
    const failed = await until(store, run.runId, ended);
    expect(failed.error).toMatchObject({ code: "tenant_run_limit" });
    await begin(host, { workflowId: "waits" });
    const refusal = { code: "tenant_run_limit", status: 429 };
    await expect(begin(host, { workflowId: "waits" })).rejects.toMatchObject(refusal);
    await register(host, workflow({ id: "waits", nodes: { gate: GATE } }), EVE);
    await begin(host, { workflowId: "waits" }, EVE);
    await eventually(() => expectAllRebuilt(store));
  });

  test("cancelling a root ends its detached descendants too, and none is started below it any more", async () => {
    const host = work(hostWith({}));
    await register(host, workflow({ id: "leaf", nodes: { gate: GATE } }));
    const late = { nap: { typeId: "core.delay", config: { ms: 400 } }, c: calls("leaf", DETACHED) };
    const middle = { a: calls("leaf", DETACHED), b: calls("leaf", DETACHED), ...late };
    await register(host, workflow({ id: "middle", nodes: middle, edges: ["nap>c"] }));
    await register(
      host,
      workflow({ id: "top", nodes: { a: calls("middle", DETACHED), b: calls("middle", DETACHED) } }),
    );
    const runId = await begin(host, { workflowId: "top" });
    await eventually(async () => expect(await all()).toHaveLength(7));
    const done = await cancelRuns(host, ADA, { runId, reason: "a mistake" });
    expect(done).toMatchObject({ cancelled: 6, failed: 0, more: false });
    await eventually(async () => expect(await allEnded()).toBe(true));
    expect(await all()).toHaveLength(7);
    const children = (await all()).filter(({ parent }) => parent !== undefined);
    expect(new Set(children.map(({ status }) => status))).toEqual(new Set(["cancelled"]));
    expect(await cancelRuns(host, ADA, { runId })).toEqual({ cancelled: 0, failed: 0, more: false });
    await expect(cancelRuns(host, ADA, { runId: children[0]?.runId ?? "" })).rejects.toMatchObject({
      code: "validation_error",
    });
    await expect(cancelRuns(host, EVE, { runId })).rejects.toMatchObject({ code: "not_found" });
  });

  test("cancelling by workflow ends all its runs and no others", async () => {
    const host = work(hostWith({}));
    await register(host, workflow({ id: "many", nodes: { gate: GATE } }));
    await register(host, workflow({ id: "other", nodes: { gate: GATE } }));
    await Promise.all(Array.from({ length: 150 }, () => begin(host, { workflowId: "many" })));
    const kept = await begin(host, { workflowId: "other" });
    await until(store, kept, ({ status }) => status === "waiting-approval");
    expect(await cancelRuns(host, ADA, { workflowId: "many" })).toEqual({ cancelled: 150, failed: 0, more: false });
    expect((await all()).filter(({ status }) => !isTerminal(status)).map(({ runId }) => runId)).toEqual([kept]);
    await expect(cancelRuns(host, ADA, {})).rejects.toMatchObject({ code: "validation_error" });
  });

  test("a tenant with many due runs does not keep another's from being taken", async () => {
    const host = hostWith({});
    for (const caller of [ADA, EVE]) await register(host, workflow({ id: "wf", nodes: { only: "core.noop" } }), caller);
    await Promise.all(Array.from({ length: 400 }, () => begin(host, { workflowId: "wf" })));
    const small = await begin(host, { workflowId: "wf" }, EVE);
    work(host, { concurrency: 4 });
    await eventually(async () => expect((await store.readRun({ tenant: "t2" }, small))?.status).toBe("completed"));
    const left = (await all()).filter(({ status }) => status === "pending").length;
    expect(left).toBeGreaterThan(200);
  });

  test("slow runs of one tenant leave room in a worker for another's", async () => {
    const hang = scriptedEffect("test.hang");
    const host = hostWith({}, engineOn(store, [hang]));
    await register(host, workflow({ id: "slow", nodes: { only: "test.hang" } }));
    await register(host, workflow({ id: "wf", nodes: { only: "core.noop" } }), EVE);
    const working = work(host, { concurrency: 8 });
    await Promise.all(Array.from({ length: 20 }, () => begin(working, { workflowId: "slow" })));
    const small = await begin(host, { workflowId: "wf" }, EVE);
    await eventually(async () => expect((await store.readRun({ tenant: "t2" }, small))?.status).toBe("completed"));
  });
});
