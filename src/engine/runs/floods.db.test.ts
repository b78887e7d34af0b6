import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { Store } from "../../store/port/store.ts";
import { openPostgresStore } from "../../store/postgres/postgres-store.ts";
import { BOTH_STORES } from "../../testing/both-stores.ts";
import { deliveriesOn, settled, untilDeliveries, webhookTo } from "../../testing/deliveries.ts";
import { ADA, begin, engineOn, register, until, workerOn } from "../../testing/engine.ts";
import { eventually } from "../../testing/eventually.ts";
import { calls, GATE } from "../../testing/family.ts";
import { createDatabase, type TestDatabase } from "../../testing/postgres.ts";
import { WebhookReceiver } from "../../testing/webhook-receiver.ts";
import { ended } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import type { Host } from "../host.ts";
import { annotate } from "../judgments/annotate.ts";
import type { Worker } from "../worker/worker.ts";
import { cancelRuns } from "./cancel-runs.ts";

const EVE: Caller = { ...ADA, tenant: "t2", principal: "eve", keyId: "key-eve" };
const DETACHED = { waitForCompletion: false, propagateCancellation: false };
const NOOP = workflow({ id: "noop", nodes: { only: "core.noop" } });

function limited(host: Host, limits: Partial<Host["limits"]> = {}): Host {
  return { ...host, limits: { maxNodeExecutions: 1000, maxActiveRuns: 100_000, maxDescendants: 10_000, ...limits } };
}

let workers: Worker[] = [];
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop(0)));
  workers = [];
});

function work(host: Host, settings: Parameters<typeof workerOn>[1] = {}): Host {
  const worker = workerOn(host, settings);
  workers.push(worker);
  return { ...host, localWorker: worker };
}

describe.each(BOTH_STORES)("a tenant with a flood of runs, on %s", (_, open) => {
  let opened: Awaited<ReturnType<typeof open>>;
  let store: Store;
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

  const pending = async (tenant: string) => store.listRuns({ tenant }, { status: "pending", limit: 1 });

  test("delays neither timers nor judgments nor deliveries of another one to its end", async () => {
    const host = limited(engineOn(store));
    const receiver = await WebhookReceiver.start();
    for (const caller of [ADA, EVE]) await register(host, NOOP, caller);
    const nap = { typeId: "core.delay", config: { ms: 20 } };
    await register(host, workflow({ id: "naps", nodes: { first: nap, second: nap }, edges: ["first>second"] }), EVE);
    await webhookTo(host, receiver.url(), { events: ["run.completed"] }, EVE);
    await Promise.all(Array.from({ length: 1500 }, () => begin(host, { workflowId: "noop" })));

    const working = work(host, { concurrency: 4, paced: true });
    const deliveries = deliveriesOn(host);
    const runId = await begin(working, { workflowId: "naps" }, EVE);
    const run = await until(store, runId, ended, "t2");
    expect(run.status).toBe("completed");
    const request = { signal: { kind: "rating", rating: 5 } as const };
    await annotate(working, { caller: EVE, run, request, record: () => undefined });
    await untilDeliveries(host, settled, {}, "t2");
    expect(receiver.received.map(({ body }) => JSON.parse(body).runId)).toEqual([runId]);
    expect(await pending("t1")).toHaveLength(1);
    await deliveries.stop(1000);
    await receiver.close();
  }, 120_000);

  test("has a family of 3,000 cancelled in pages, and other requests are answered in between", async () => {
    const host = limited(engineOn(store));
    const some = (count: number, workflowId: string) =>
      Object.fromEntries(Array.from({ length: count }, (_one, i) => [`n${i}`, calls(workflowId, DETACHED)]));
    await register(host, workflow({ id: "leaf", nodes: { gate: GATE } }));
    await register(host, workflow({ id: "middle", nodes: some(59, "leaf") }));
    await register(host, workflow({ id: "top", nodes: some(50, "middle") }));
    await register(host, NOOP, EVE);
    const working = work(host);
    const root = await begin(working, { workflowId: "top" });
    const open = async () => (await store.countedRuns()).active["t1"] ?? 0;
    await eventually(async () => expect((await store.countedRuns()).descendants[root]).toBe(3000));
    await eventually(async () => expect(await open()).toBe(2950));

    let answered = 0;
    let done = false;
    const largest = largestCommit(working);
    const cancelling = cancelRuns(largest.host, ADA, { runId: root }).finally(() => {
      done = true;
    });
    while (!done) {
      await until(store, await begin(working, { workflowId: "noop" }, EVE), ended, "t2");
      answered += 1;
    }
    expect(await cancelling).toEqual({ cancelled: 2950, failed: 0, more: false });
    // One request is answered before the first page, and one after the last.
    expect(answered).toBeGreaterThan(2);
    expect(largest.runs()).toBeLessThan(100);
    await eventually(async () => expect(await open()).toBe(0));
  }, 240_000);
});

/** The runs that one unit of a host's commits writes at most. */
function largestCommit(host: Host): { readonly host: Host; runs(): number } {
  let runs = 0;
  const store: Store = {
    ...host.store,
    commit: (unit) => {
      runs = Math.max(runs, unit.runs?.length ?? 0);
      return host.store.commit(unit);
    },
  };
  return { host: { ...host, store }, runs: () => runs };
}

describe("two hosts on one PostgreSQL", () => {
  let database: TestDatabase;
  let stores: readonly Store[];
  beforeEach(async () => {
    database = await createDatabase();
    stores = await Promise.all([1, 2].map(() => openPostgresStore({ url: database.url, poolSize: 4 })));
  });
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.stop(0)));
    workers = [];
    await Promise.all(stores.map((store) => store.close()));
    await database.drop();
  });

  const runsOf = async (tenant = "t1"): Promise<Run[]> =>
    (await stores[0]?.listRuns({ tenant }, { limit: 1000 })) ?? [];

  test("count the runs of a tenant together: both create at once, and the limit is met and never passed", async () => {
    const hosts = stores.map((store) => limited(engineOn(store), { maxActiveRuns: 60 }));
    for (const host of hosts.slice(0, 1)) await register(host, workflow({ id: "waits", nodes: { gate: GATE } }));
    const attempts = Array.from({ length: 60 }, () => hosts.map((host) => begin(host, { workflowId: "waits" })));
    const results = await Promise.allSettled(attempts.flat());
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(60);
    for (const result of results) {
      if (result.status === "fulfilled") continue;
      expect(result.reason).toBeInstanceOf(AppError);
      expect(result.reason).toMatchObject({ code: "tenant_run_limit" });
    }
    expect(await runsOf()).toHaveLength(60);
    for (const store of stores) expect((await store.countedRuns()).active).toEqual({ t1: 60 });
  }, 60_000);

  test("count the runs below a root together, and its limit is met and never passed", async () => {
    const [first, second] = stores.map((store) => limited(engineOn(store), { maxDescendants: 50 }));
    if (first === undefined || second === undefined) throw new Error("there are two stores");
    const nodes = { a: calls("bomb", DETACHED), b: calls("bomb", DETACHED), c: calls("bomb", DETACHED) };
    await register(first, workflow({ id: "bomb", nodes }));
    for (const host of [first, second]) work(host, { concurrency: 4 });
    const root = await begin(first, { workflowId: "bomb" });
    await eventually(async () => {
      const runs = await runsOf();
      expect(runs).toHaveLength(51);
      expect(runs.every(({ status }) => isTerminal(status))).toBe(true);
    });
    for (const store of stores) expect((await store.countedRuns()).descendants).toEqual({ [root]: 50 });
  }, 60_000);
});
