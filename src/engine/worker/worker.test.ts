import { beforeEach, describe, expect, test } from "vitest";
import { ENGINE_VERSION } from "../../protocol/events.ts";
import type { Store } from "../../store/port/store.ts";
import { begin, engineOn, logOf, register, scriptedEffect, until, workerOn } from "../../testing/engine.ts";
import { change, ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import { cancelRun } from "../runs/change-run.ts";

const bench = workbench();
let store: Store;
const work = bench.work;

beforeEach(() => {
  store = bench.store;
});

describe("a run created where a worker has room", () => {
  test("is executed straight from memory, under a lease written with it", async () => {
    const host = engineOn(store);
    const workflowId = await register(host, workflow({ nodes: { only: "core.noop" } }));
    const worker = work(host);
    const runId = await begin({ ...host, localWorker: worker }, { workflowId });
    await until(store, runId, ended);
    expect(worker.stats()).toMatchObject({ handedOver: 1, claimed: 0 });
    expect((await logOf(store, runId)).map((event) => event.type)).toEqual([
      "run.started",
      "node.started",
      "node.completed",
      "run.completed",
    ]);
  });
});

describe("a run created elsewhere", () => {
  test("waits in the queue until a worker claims it", async () => {
    const host = engineOn(store);
    const workflowId = await register(host, workflow({ nodes: { only: "core.noop" } }));
    const runId = await begin(host, { workflowId });
    expect((await store.readRun({ tenant: "t1" }, runId))?.status).toBe("pending");
    const worker = work(host);
    await until(store, runId, ended);
    expect(worker.stats().claimed).toBe(1);
  });
});

describe("a run that sleeps", () => {
  test("holds no worker and wakes when its time has come", async () => {
    const host = engineOn(store);
    const workflowId = await register(
      host,
      workflow({ nodes: { wait: { typeId: "core.delay", config: { ms: 60 } } } }),
    );
    const worker = work(host);
    const runId = await begin({ ...host, localWorker: worker }, { workflowId });
    const asleep = await until(store, runId, (run) => run.nodes["wait"]?.status === "sleeping");
    expect(asleep.status).toBe("running");
    await until(store, runId, ended);
    expect(worker.stats().claimed).toBe(1);
  });

  test("sleeps to its first due time although the host went away meanwhile", async () => {
    const host = engineOn(store);
    const workflowId = await register(
      host,
      workflow({ nodes: { wait: { typeId: "core.delay", config: { ms: 100 } } } }),
    );
    const first = workerOn(host);
    const runId = await begin({ ...host, localWorker: first }, { workflowId });
    const { nodes } = await until(store, runId, (run) => run.nodes["wait"]?.status === "sleeping");
    await first.stop(0);
    work(host);
    await until(store, runId, ended);
    const completed = (await logOf(store, runId)).find((event) => event.type === "node.completed");
    expect(Date.parse(completed?.timestamp ?? "")).toBeGreaterThanOrEqual(nodes["wait"]?.dueAtMs ?? Infinity);
    expect((await logOf(store, runId)).filter((event) => event.type === "node.started")).toHaveLength(1);
  });
});

describe("several workers on one store", () => {
  test("execute every run exactly once", async () => {
    let calls = 0;
    const counted = {
      ...scriptedEffect("test.count"),
      execute: async () => {
        calls += 1;
        return { type: "completed" as const };
      },
    };
    const host = engineOn(store, [counted]);
    const workflowId = await register(host, workflow({ nodes: { act: "test.count" } }));
    const runIds = await Promise.all(Array.from({ length: 60 }, () => begin(host, { workflowId })));
    for (let i = 0; i < 3; i++) work(host, { concurrency: 8 });
    for (const runId of runIds) await until(store, runId, ended);
    expect(calls).toBe(60);
  });
});

describe("cancelling a run while it executes", () => {
  test("ends it once, whoever is first, with its last event terminal", async () => {
    const host = engineOn(store);
    const workflowId = await register(
      host,
      workflow({
        nodes: { a: { typeId: "core.delay", config: { ms: 1 } }, b: { typeId: "core.delay", config: { ms: 1 } } },
        edges: ["a>b"],
      }),
    );
    const worker = work(host);
    for (let round = 0; round < 40; round++) {
      const runId = await begin({ ...host, localWorker: worker }, { workflowId });
      await new Promise((resolve) => setTimeout(resolve, round % 8));
      await cancelRun(host, change(runId));
      await until(store, runId, ended);
      const types = (await logOf(store, runId)).map((event) => event.type);
      const ends = types.filter((type) => ["run.completed", "run.failed", "run.cancelled"].includes(type));
      expect(ends).toHaveLength(1);
      expect(types.at(-1)).toBe(ends[0]);
    }
  });
});

describe("a run that cannot be executed", () => {
  const lease = { leaseMs: 20, renewMs: 60_000 };

  test("is tried a few times, a lease apart, and then recorded as failed", async () => {
    const host = engineOn(store);
    const workflowId = await register(host, workflow({ nodes: { only: "core.noop" } }));
    let asked = 0;
    const byHash = async (): Promise<never> => {
      asked += 1;
      throw new Error("no such definition");
    };
    const errors: unknown[] = [];
    const runId = await begin(host, { workflowId });
    work({ ...host, plans: { ...host.plans, byHash } }, { ...lease, onError: (error: unknown) => errors.push(error) });
    const run = await until(store, runId, ended);
    expect(run).toMatchObject({ status: "failed", error: { code: "run_dead_lettered" } });
    expect(asked).toBe(5);
    expect(errors).toHaveLength(5);
    const log = await logOf(store, runId);
    expect(log.map(({ type }) => type)).toEqual(["run.started", "run.dead_lettered", "run.failed"]);
    expect(log[1]?.payload).toEqual({ runId, reason: "engine_error", attempts: 5 });
    expect(JSON.stringify(log)).not.toContain("no such definition");
  });
});

describe("a worker that is told to stop", () => {
  test("gives back a run that comes into its hands after the time of grace", async () => {
    const effect = scriptedEffect("test.effect");
    const host = engineOn(store, [effect]);
    const workflowId = await register(host, workflow({ nodes: { act: "test.effect" } }));
    const worker = workerOn(host);
    let commit: () => void = () => {};
    const asked = new Promise<void>((resolve) => (commit = resolve));
    const slow: Store = {
      ...store,
      commit: async (unit) => {
        await asked;
        return store.commit(unit);
      },
    };
    const begun = begin({ ...host, store: slow, localWorker: worker }, { workflowId });
    await new Promise((resolve) => setTimeout(resolve, 20));
    const stopped = worker.stop(10);
    await new Promise((resolve) => setTimeout(resolve, 40));
    commit();
    const runId = await begun;
    await stopped;
    expect(effect.calls).toHaveLength(0);
    expect(
      await store.claimRuns({
        owner: "other",
        nowMs: Date.now(),
        untilMs: Date.now() + 1000,
        limit: 1,
        engineVersion: ENGINE_VERSION,
      }),
    ).toMatchObject([{ runId }]);
  });
});
