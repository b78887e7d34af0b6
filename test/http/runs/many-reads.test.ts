import { afterAll, beforeAll, expect, test } from "vitest";
import type { Host } from "../../../src/engine/host.ts";
import { importJudgments } from "../../../src/engine/judgments/import-judgments.ts";
import { fillQueue } from "../../../src/engine/queues/fill-queue.ts";
import { addItems } from "../../../src/engine/queues/items.ts";
import { visibleQueue } from "../../../src/engine/queues/queue-records.ts";
import { listRuns } from "../../../src/engine/runs/read-run.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { ADA, until } from "../../../src/testing/engine.ts";
import { type TestHost, testHost } from "../../../src/testing/host.ts";
import { foreignLine, HEADER } from "../../../src/testing/judgment-files.ts";

const RUNS = 40;
const INPUT = "x".repeat(50_000);

let host: TestHost;
let runIds: string[];
beforeAll(async () => {
  host = await testHost({ worker: true });
  runIds = [];
  for (let i = 0; i < RUNS; i++) {
    const json = { workflowId: "noop", tags: ["wanted"], metadata: { note: INPUT } };
    const created = await host.ask("POST", "/v1/runs", { json });
    expect(created.statusCode, created.payload).toBe(201);
    runIds.push(created.json().runId);
  }
  for (const runId of runIds) await until(host.store, runId, ({ endedAt }) => endedAt !== undefined);
}, 60_000);
afterAll(() => host.close());

/** The same host, and what was asked of its store. */
function counting(): {
  readonly counted: Host;
  readonly calls: Record<"readRun" | "findEvent" | "findEvents", number>;
} {
  const calls = { readRun: 0, findEvent: 0, findEvents: 0 };
  const { store } = host.host;
  const readRun: Store["readRun"] = (...asked) => {
    calls.readRun += 1;
    return store.readRun(...asked);
  };
  const findEvent: Store["findEvent"] = (...asked) => {
    calls.findEvent += 1;
    return store.findEvent(...asked);
  };
  const findEvents: Store["findEvents"] = (...asked) => {
    calls.findEvents += 1;
    return store.findEvents(...asked);
  };
  return { counted: { ...host.host, store: { ...store, readRun, findEvent, findEvents } }, calls };
}

test("runs of some size that are read together leave room for other work", async () => {
  let done = 0;
  let most = 0;
  const reads = runIds.map((runId) => host.store.readRun({ tenant: "t1" }, runId).then(() => ++done));
  for (let before = 0; done < RUNS; before = done) {
    await new Promise(setImmediate);
    most = Math.max(most, done - before);
  }
  await Promise.all(reads);
  expect(most).toBeLessThan(4);
});

test("an import with many judgments of events of one run goes through its log a few times, not once for each", async () => {
  const [runId = ""] = runIds;
  const events = await host.store.readEvents(runId, 0, 100);
  const ids = events.map(({ body }) => (JSON.parse(body) as { eventId: string }).eventId);
  const lines = Array.from({ length: 300 }, (_, i) => ({
    ...foreignLine(),
    annotationId: host.host.newId("ann"),
    target: { runId, eventId: i % 2 === 0 ? ids[0] : host.host.newId("evt") },
  }));
  const { counted, calls } = counting();
  const request = { lines: [HEADER, ...lines], dryRun: true };
  const answer = await importJudgments(counted, { caller: ADA, request, record: () => undefined });
  expect(answer).toMatchObject({ imported: 150 });
  expect(answer.refused).toHaveLength(150);
  expect(calls.findEvent).toBe(0);
  expect(calls.findEvents).toBeLessThan(10);
  expect(calls.readRun).toBe(1);
});

test("a queue reads a run once, however many judgments and items are about it", async () => {
  const [runId = ""] = runIds;
  for (let i = 0; i < 30; i++) {
    const json = { signal: { kind: "label", label: "odd" } };
    expect((await host.ask("POST", `/v1/runs/${runId}/annotations`, { json })).statusCode).toBe(201);
  }
  const rules = { name: "odd", judgment: { kind: "rating" }, query: { label: "odd", from: "2020-01-01T00:00:00Z" } };
  const created = await host.ask("POST", "/v1/host/assay/queues", { json: rules });
  expect(created.statusCode, created.payload).toBe(201);
  const { queueId } = created.json();
  const { counted, calls } = counting();
  await fillQueue(counted, { ...(await visibleQueue(host.host, ADA, queueId)), cursor: {} });
  expect(calls.readRun).toBe(1);

  calls.readRun = 0;
  const events = await host.store.readEvents(runId, 0, 100);
  const items = events.map(({ body }) => ({ runId, eventId: (JSON.parse(body) as { eventId: string }).eventId }));
  const added = await addItems(counted, { caller: ADA, queueId, request: { items }, record: () => undefined });
  expect(added.added).toHaveLength(items.length);
  expect(calls).toEqual({ readRun: 1, findEvent: 0, findEvents: expect.any(Number) });
  expect(calls.findEvents).toBeLessThan(3);
});

test("a list by tag looks through a bounded amount of states in one go, and finds all of them", async () => {
  const sizes: number[] = [];
  const { store } = host.host;
  const big: Store["stateBytes"] = async (visible, query) => {
    const found = await store.stateBytes(visible, query);
    // As if each run had a megabyte.
    return query.tag === undefined ? found.map(() => 1_000_000) : found;
  };
  const runIdBeyond: Store["runIdBeyond"] = (visible, query) => {
    sizes.push(query.limit + 1);
    return store.runIdBeyond(visible, query);
  };
  const bounded = { ...host.host, store: { ...store, stateBytes: big, runIdBeyond } };
  const found = new Set<string>();
  for (let cursor: string | undefined = undefined, page = 0; page < 50; page++) {
    const asked: { limit: number; tag: string; cursor?: string } = { limit: 10, tag: "wanted" };
    const next: Awaited<ReturnType<typeof listRuns>> = await listRuns(
      bounded,
      ADA,
      cursor === undefined ? asked : { ...asked, cursor },
    );
    for (const { runId } of next.runs) found.add(runId);
    cursor = next.nextCursor;
    if (cursor === undefined) break;
  }
  expect([...found].sort()).toEqual([...runIds].sort());
  expect(Math.max(...sizes)).toBeLessThanOrEqual(4);
});
