import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CreateQueueRequest } from "../../protocol/queues/api.ts";
import type { ForkedFrom } from "../../protocol/runs/forked-from.ts";
import type { Store } from "../../store/port/store.ts";
import { annotate, annotationOf, FLAG } from "../../testing/annotation-builders.ts";
import { BOTH_STORES } from "../../testing/both-stores.ts";
import {
  HOUR,
  NOW,
  next,
  nodeCompleted,
  nodeStarted,
  runCompleted,
  runWrite,
  startedRun,
} from "../../testing/builders.ts";
import { ADA } from "../../testing/engine.ts";
import { hostAt } from "../../testing/moving-clock.ts";
import { fillQueue, sweepQueues } from "./fill-queue.ts";
import { PAGE_ROWS } from "./find-subjects.ts";
import { createQueue, readQueue } from "./manage-queues.ts";
import { type Queue, visibleQueue } from "./queue-records.ts";

describe.each(BOTH_STORES)("a queue that fills itself on %s", (_name, open) => {
  let store: Store;
  let drop: () => Promise<void>;
  let host: ReturnType<typeof hostAt>;
  beforeEach(async () => {
    ({ store, drop } = await open());
    host = hostAt(store, NOW);
  });
  afterEach(async () => {
    await store.close();
    await drop();
  });

  /** A run that ended at a time, written now. */
  async function ended(atMs: number, forkedAtMs?: number): Promise<string> {
    const started = startedRun({ tenant: "t1", atMs });
    const { events, run } = next(started, atMs, nodeStarted(), nodeCompleted(), runCompleted());
    const at = forkedAtMs === undefined ? undefined : new Date(forkedAtMs).toISOString();
    const forkedFrom = { runId: "run-source", fromSeq: 4, mode: "branch", by: "ada", at } as unknown as ForkedFrom;
    const write = runWrite({
      events: [...started.events, ...events],
      run: at === undefined ? run : { ...run, forkedFrom },
    });
    expect(await store.commit({ tenant: "t1", runs: [write] })).toMatchObject({ ok: true });
    return run.runId;
  }

  async function newQueue(query: NonNullable<CreateQueueRequest["query"]>): Promise<Queue> {
    const request = { name: "all", judgment: { kind: "rating" }, query } as const;
    const { queueId } = await createQueue(host, ADA, request, () => undefined);
    return visibleQueue(host, ADA, queueId);
  }

  async function itemsOf({ record: { queueId } }: Queue): Promise<string[]> {
    const items = await store.listQueueItems(ADA, { queueId, limit: 5000 });
    return items.map(({ runId }) => runId);
  }

  async function fill({ record: { queueId } }: Queue) {
    return fillQueue(host, await visibleQueue(host, ADA, queueId));
  }

  test("goes through a long past in steps, without end and without doing anything twice", async () => {
    const runIds = await Promise.all(Array.from({ length: 1250 }, (_, i) => ended(NOW - HOUR + i)));
    const queue = await newQueue({});
    expect(await fill(queue)).toMatchObject({ more: true });
    expect(await itemsOf(queue)).toHaveLength(1000);
    expect(await fill(queue)).toMatchObject({ more: false });
    expect((await itemsOf(queue)).sort()).toEqual([...runIds].sort());
    expect(await fill(queue)).toMatchObject({ more: false });
    expect(await itemsOf(queue)).toHaveLength(1250);
  }, 60_000);

  test("finds a run that was written late, or by a host whose clock is behind", async () => {
    const first = await ended(NOW);
    const queue = await newQueue({});
    await fill(queue);
    const late = await ended(NOW - 59_000);
    await fill(queue);
    expect(await itemsOf(queue)).toEqual([late, first]);
  });

  test("finds a run that was written late also where a page of others was just full", async () => {
    const runIds = await Promise.all(Array.from({ length: PAGE_ROWS }, (_, i) => ended(NOW + i)));
    const queue = await newQueue({});
    await fill(queue);
    const late = await ended(NOW - 59_000);
    await fill(queue);
    expect((await itemsOf(queue)).sort()).toEqual([...runIds, late].sort());
    const { queue: filled } = await fill(queue);
    for (let i = 0; i < 3; i++) await fill(queue);
    expect((await visibleQueue(host, ADA, queue.record.queueId)).record.revision).toBe(filled.record.revision);
  });

  test("finds a run that was flagged before it came to the end that is asked for", async () => {
    const queue = await newQueue({ flagged: true, status: "completed" });
    const started = startedRun({ tenant: "t1", atMs: NOW });
    expect(await store.commit({ tenant: "t1", runs: [runWrite(started)] })).toMatchObject({ ok: true });
    await annotate(store, annotationOf(started.run, { signal: FLAG, flag: { status: "open" } }));
    for (let i = 0; i < PAGE_ROWS / 2; i++) await annotate(store, annotationOf(started.run));
    await fill(queue);
    const other = await ended(NOW + HOUR);
    host = hostAt(store, NOW + HOUR);
    const { events, run } = next(started, NOW + HOUR, nodeStarted(), nodeCompleted(), runCompleted());
    expect(await store.commit({ tenant: "t1", runs: [runWrite({ events, run })] })).toMatchObject({ ok: true });
    await fill(queue);
    expect(await itemsOf(queue)).toEqual([run.runId]);
    expect(await itemsOf(queue)).not.toContain(other);
  });

  test.each([undefined, new Date(NOW - 24 * HOUR).toISOString()])(
    "finds what was flagged before others were recorded that say they are older, from %s",
    async (from) => {
      const runId = await ended(NOW - HOUR);
      const run = await store.readRun(ADA, runId);
      if (run === undefined) throw new Error("the run is not there");
      await annotate(store, annotationOf(run, { signal: FLAG, flag: { status: "open" }, createdAtMs: NOW }));
      const old = Array.from({ length: 1001 }, (_, i) =>
        annotationOf(run, { createdAtMs: NOW - 20 * HOUR + i, tapeRow: "{}" }),
      );
      await annotate(store, ...old);
      const queue = await newQueue({ flagged: true, ...(from === undefined ? {} : { from }) });
      while ((await fill(queue)).more);
      expect(await itemsOf(queue)).toEqual([runId]);
    },
  );

  test("writes nothing where there is nothing new", async () => {
    await ended(NOW);
    const queue = await newQueue({});
    const { queue: filled } = await fill(queue);
    for (let i = 0; i < 3; i++) await fill(queue);
    expect((await visibleQueue(host, ADA, queue.record.queueId)).record.revision).toBe(filled.record.revision);
  });

  test("takes a run once when several fill it at the same time", async () => {
    const runIds = await Promise.all(Array.from({ length: 250 }, (_, i) => ended(NOW + i)));
    const queue = await newQueue({});
    const others = Array.from({ length: 5 }, () => ({ ...host }));
    await Promise.all(others.map((one) => fillQueue(one, queue)));
    await fill(queue);
    expect((await itemsOf(queue)).sort()).toEqual([...runIds].sort());
  });

  test("leaves out what is older than it asks for, and takes its share", async () => {
    await ended(NOW - 2);
    const later = await Promise.all(Array.from({ length: 200 }, (_, i) => ended(NOW + i)));
    const from = new Date(NOW).toISOString();
    const all = await newQueue({ from });
    await fill(all);
    expect((await itemsOf(all)).sort()).toEqual([...later].sort());
    const request = { name: "some", judgment: { kind: "rating" }, query: { from, sample: 0.3 } } as const;
    const some = await createQueue(host, ADA, request, () => undefined);
    const { items } = await readQueue(host, ADA, some.queueId);
    expect(items.total).toBeGreaterThan(20);
    expect(items.total).toBeLessThan(120);
  });

  test("is filled by the sweep while nobody looks", async () => {
    const runId = await ended(NOW);
    const queue = await newQueue({});
    const errors: unknown[] = [];
    const sweep = sweepQueues(host, { everyMs: 1, onError: (error) => errors.push(error) });
    await new Promise<void>((resolve) => {
      const stop = store.onChange(({ queues }) => {
        if (!queues) return;
        stop();
        resolve();
      });
    });
    await sweep.stop();
    expect(await itemsOf(queue)).toEqual([runId]);
    expect(errors).toEqual([]);
  });

  test("finds a fork that has ended when it is made, with the times of its source", async () => {
    const last = await ended(NOW);
    const queue = await newQueue({});
    await fill(queue);
    const fork = await ended(NOW - HOUR, NOW + 1);
    await fill(queue);
    expect((await itemsOf(queue)).sort()).toEqual([last, fork].sort());
  });

  test("takes nothing in while it is closed", async () => {
    await ended(NOW);
    const queue = await newQueue({});
    expect(await fillQueue(host, { ...queue, state: "closed" })).toMatchObject({ more: false });
    expect(await itemsOf(queue)).toEqual([]);
  });
});
