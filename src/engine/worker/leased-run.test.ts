import { beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import type { Store } from "../../store/port/store.ts";
import { begin, engineOn, logOf, register, scriptedEffect, until, workerOn } from "../../testing/engine.ts";
import { change, ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import { cancelRun, pauseRun, resumeRun } from "../runs/change-run.ts";
import type { EffectContext, NodeOutcome } from "./node-type.ts";

const bench = workbench();
let store: Store;
const work = bench.work;

beforeEach(() => {
  store = bench.store;
});

describe("a node with an effect", () => {
  const one = workflow({ nodes: { act: "test.effect", next: "core.noop" }, edges: ["act>next"] });

  test("is called only after its start is durable", async () => {
    const effect = scriptedEffect("test.effect");
    const host = engineOn(store, [effect]);
    const workflowId = await register(host, one);
    const worker = work(host);
    const runId = await begin({ ...host, localWorker: worker }, { workflowId });
    await effect.called(1);
    expect((await logOf(store, runId)).map((event) => event.type)).toEqual(["run.started", "node.started"]);
    effect.calls[0]?.finish({ type: "completed", outputs: { answer: 42 } });
    const run = await until(store, runId, ended);
    expect(run.nodes["act"]?.outputs).toEqual({ answer: 42 });
  });

  test("is told to stop when the run is cancelled, and the run ends cancelled", async () => {
    const effect = scriptedEffect("test.effect");
    const host = engineOn(store, [effect]);
    const workflowId = await register(host, one);
    const worker = work(host);
    const runId = await begin({ ...host, localWorker: worker }, { workflowId });
    await effect.called(1);
    expect(await cancelRun(host, change(runId))).toEqual({ runId, status: "cancelling" });
    const run = await until(store, runId, ended);
    expect(run.status).toBe("cancelled");
    expect(effect.calls[0]?.context.signal.aborted).toBe(true);
    effect.calls[0]?.finish({ type: "completed" });
    expect((await logOf(store, runId)).at(-1)?.type).toBe("run.cancelled");
  });

  test("starts a fresh attempt after a pause at once, and the result of the first no longer counts", async () => {
    const effect = scriptedEffect("test.effect");
    const host = engineOn(store, [effect]);
    const workflowId = await register(host, one);
    const worker = work(host);
    const runId = await begin({ ...host, localWorker: worker }, { workflowId });
    await effect.called(1);
    await pauseRun(host, change(runId, { drainPolicy: "immediate" }));
    effect.calls[0]?.finish({ type: "completed", outputs: { from: "first" } });
    expect((await store.readRun({ tenant: "t1" }, runId))?.status).toBe("paused");
    await resumeRun(host, change(runId));
    await effect.called(2);
    effect.calls[1]?.finish({ type: "completed", outputs: { from: "second" } });
    const run = await until(store, runId, ended);
    expect(run.nodes["act"]).toMatchObject({ attempt: 1, outputs: { from: "second" } });
  });

  test("reaches its end before a draining pause takes effect", async () => {
    const effect = scriptedEffect("test.effect");
    const host = engineOn(store, [effect]);
    const workflowId = await register(host, one);
    const worker = work(host);
    const runId = await begin({ ...host, localWorker: worker }, { workflowId });
    await effect.called(1);
    await pauseRun(host, change(runId));
    effect.calls[0]?.finish({ type: "completed" });
    await until(store, runId, (run) => run.status === "paused");
    expect((await logOf(store, runId)).slice(-2).map((event) => event.type)).toEqual(["node.completed", "run.paused"]);
  });

  test("fails the run with the error it raised", async () => {
    const effect = { ...scriptedEffect("test.effect"), execute: () => Promise.reject(new Error("no such host")) };
    const host = engineOn(store, [effect]);
    const workflowId = await register(host, one);
    work(host);
    const run = await until(store, await begin(host, { workflowId }), ended);
    expect(run.error).toMatchObject({ code: "node_threw", message: "no such host" });
  });

  test("is started again by another worker when the first one is gone", async () => {
    const effect = scriptedEffect("test.effect");
    const host = engineOn(store, [effect]);
    const workflowId = await register(host, one);
    const runId = await begin(host, { workflowId });
    // A worker that claims, writes the start, and dies: its lease is all that is left of it.
    const dying = workerOn(host, { leaseMs: 150, renewMs: 60_000 });
    await effect.called(1);
    work(host, { leaseMs: 10_000 });
    await effect.called(2);
    effect.calls[1]?.finish({ type: "completed", outputs: { by: "second" } });
    effect.calls[0]?.finish({ type: "completed", outputs: { by: "first" } });
    const run = await until(store, runId, ended);
    expect(run.nodes["act"]).toMatchObject({ attempt: 1, outputs: { by: "second" } });
    await dying.stop(0);
    expect((await logOf(store, runId)).filter((event) => event.type === "run.completed")).toHaveLength(1);
  });

  test("keeps its lease while it runs longer than one", async () => {
    const effect = scriptedEffect("test.effect");
    const host = engineOn(store, [effect]);
    const workflowId = await register(host, one);
    work(host, { leaseMs: 200, renewMs: 40 });
    const other = work(host, { leaseMs: 200, renewMs: 40 });
    const runId = await begin(host, { workflowId });
    await effect.called(1);
    await new Promise((resolve) => setTimeout(resolve, 600));
    effect.calls[0]?.finish({ type: "completed" });
    await until(store, runId, ended);
    expect(effect.calls).toHaveLength(1);
    expect(other.stats().leasesLost).toBe(0);
  });

  test("may sleep in the middle, and is called again when its time has come", async () => {
    const effect = scriptedEffect("test.effect");
    const host = engineOn(store, [effect]);
    const workflowId = await register(host, one);
    work(host);
    const runId = await begin(host, { workflowId });
    await effect.called(1);
    effect.calls[0]?.finish({ type: "sleep", forMs: 30 });
    await effect.called(2);
    expect(effect.calls[1]?.context).toMatchObject({ attempt: 0, slept: true });
    effect.calls[1]?.finish({ type: "completed", outputs: { after: "a nap" } });
    const run = await until(store, runId, ended);
    expect(run.nodes["act"]).toMatchObject({ status: "completed", attempt: 0, outputs: { after: "a nap" } });
  });

  test("fails the run when it throws instead of answering, or answers what is not JSON", async () => {
    const throws = {
      ...scriptedEffect("test.effect"),
      execute: () => {
        throw new Error("not even a promise");
      },
    };
    const bigint = {
      ...scriptedEffect("test.bigint"),
      execute: async () => ({ type: "completed", outputs: { n: 1n } }),
    };
    const host = engineOn(store, [throws, bigint as never]);
    const first = await register(host, one);
    const second = await register(host, workflow({ id: "second", nodes: { act: "test.bigint" } }));
    work(host);
    const thrown = await until(store, await begin(host, { workflowId: first }), ended);
    expect(thrown.error).toMatchObject({ code: "node_threw", message: "not even a promise" });
    const odd = await until(store, await begin(host, { workflowId: second }), ended);
    expect(odd.error).toMatchObject({ code: "node_output_invalid" });
  });

  test("is not called again when its own process stood still until the lease was over", async () => {
    const effect = scriptedEffect("test.effect");
    const host = engineOn(store, [effect]);
    const workflowId = await register(host, one);
    // Nothing renews the lease, as while a machine sleeps; the same worker then finds the run free.
    const worker = work(host, { leaseMs: 30, renewMs: 60_000 });
    const runId = await begin(host, { workflowId });
    await effect.called(1);
    while (worker.stats().claimed < 4) await new Promise((resolve) => setTimeout(resolve, 10));
    effect.calls[0]?.finish({ type: "completed" });
    await until(store, runId, ended);
    expect(effect.calls).toHaveLength(1);
  });

  test("hears of a cancellation soon even when the word of it is lost", async () => {
    const effect = scriptedEffect("test.effect");
    const deaf = { ...store, onChange: () => () => {} };
    const host = engineOn(deaf, [effect]);
    const workflowId = await register(host, one);
    work(host, { renewMs: 30 });
    const runId = await begin(host, { workflowId });
    await effect.called(1);
    await cancelRun(host, change(runId));
    expect((await until(store, runId, ended)).status).toBe("cancelled");
    expect(effect.calls[0]?.context.signal.aborted).toBe(true);
  });

  test("goes on while the database is away, and its result is written when it is back", async () => {
    const effect = scriptedEffect("test.effect");
    let away = false;
    const refuse = () => Promise.reject(new AppError("unavailable", { reason: "away" }));
    const flaky: Store = {
      ...store,
      commit: (unit) => (away ? refuse() : store.commit(unit)),
      readRun: (visible, runId) => (away ? refuse() : store.readRun(visible, runId)),
    };
    const host = engineOn(flaky, [effect]);
    const workflowId = await register(host, one);
    work(host, { renewMs: 20, onError: () => {} });
    const runId = await begin(host, { workflowId });
    await effect.called(1);
    away = true;
    effect.calls[0]?.finish({ type: "completed", outputs: { answer: 42 } });
    await new Promise((resolve) => setTimeout(resolve, 100));
    away = false;
    const run = await until(store, runId, ended);
    expect(run.nodes["act"]).toMatchObject({ attempt: 0, outputs: { answer: 42 } });
    expect(effect.calls).toHaveLength(1);
  });

  test("that could not read a database that was away is begun anew, and so it is each time", async () => {
    const attempts: number[] = [];
    const effect = {
      ...scriptedEffect("test.effect"),
      execute: async ({ attempt, append }: EffectContext): Promise<NodeOutcome> => {
        attempts.push(attempt);
        await append([]);
        if (attempts.length < 3) throw new AppError("unavailable", { reason: "away" });
        return { type: "completed", outputs: { answer: 42 } };
      },
    };
    const host = engineOn(store, [effect]);
    const workflowId = await register(host, one);
    work(host);
    const runId = await begin(host, { workflowId });
    const run = await until(store, runId, ended);
    expect(run.nodes["act"]).toMatchObject({ status: "completed", outputs: { answer: 42 } });
    expect(attempts).toEqual([0, 1, 2]);
    const types = (await logOf(store, runId)).flatMap(({ type, nodeId }) => (nodeId === "act" ? [type] : []));
    expect(types).toEqual(["node.started", "node.started", "node.started", "node.completed"]);
  });

  test("that waits for a database that is away ends when its run is cancelled", async () => {
    const effect = {
      ...scriptedEffect("test.effect"),
      execute: async (): Promise<NodeOutcome> => {
        throw new AppError("unavailable", { reason: "away" });
      },
    };
    const host = engineOn(store, [effect]);
    const workflowId = await register(host, one);
    const worker = work(host);
    const runId = await begin({ ...host, localWorker: worker }, { workflowId });
    await until(store, runId, (run) => run.nodes["act"]?.status === "executing");
    await cancelRun(host, change(runId));
    expect((await until(store, runId, ended)).status).toBe("cancelled");
  });

  test("is handed back to the queue when its worker stops", async () => {
    const effect = scriptedEffect("test.effect");
    const host = engineOn(store, [effect]);
    const workflowId = await register(host, one);
    const first = workerOn(host);
    const runId = await begin({ ...host, localWorker: first }, { workflowId });
    await effect.called(1);
    await first.stop(0);
    work(host);
    // Well before the first lease would have ended.
    await effect.called(2);
    effect.calls[1]?.finish({ type: "completed" });
    expect((await until(store, runId, ended)).status).toBe("completed");
  });
});

describe("getVersion", () => {
  test("pins the newest version when first asked and returns the pin ever after", async () => {
    let supported = 1;
    const seen: number[] = [];
    const versioned = {
      ...scriptedEffect("test.versioned"),
      execute: async ({ getVersion }: { getVersion(id: string, min: number, max: number): number }) => {
        seen.push(getVersion("greeting", 1, supported));
        supported = 2;
        return { type: "completed" as const };
      },
    };
    const host = engineOn(store, [versioned]);
    const workflowId = await register(
      host,
      workflow({ nodes: { a: "test.versioned", b: "test.versioned" }, edges: ["a>b"] }),
    );
    work(host);
    const runId = await begin(host, { workflowId });
    await until(store, runId, ended);
    expect(seen).toEqual([1, 1]);
    const pins = (await logOf(store, runId)).filter((event) => event.type === "version.pinned");
    expect(pins.map((event) => event.payload)).toEqual([{ changeId: "greeting", version: 1, nodeId: "a" }]);
  });
});
