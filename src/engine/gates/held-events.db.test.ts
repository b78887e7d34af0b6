import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { correlationIdOf } from "../../formats/gates/gate-digest.ts";
import type { Store } from "../../store/port/store.ts";
import { openPostgresStore } from "../../store/postgres/postgres-store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { BOTH_STORES } from "../../testing/both-stores.ts";
import { ADA, begin, engineOn, logOf, register, until, workerOn } from "../../testing/engine.ts";
import { newOrder, payment, waitsForPayment, waitsForPaymentAfterGate } from "../../testing/external-events.ts";
import { accept } from "../../testing/family.ts";
import { createDatabase } from "../../testing/postgres.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import type { Host } from "../host.ts";
import { sendExternalEvent } from "./external-events.ts";
import { sweepHeldEvents } from "./held-events.ts";

type Order = ReturnType<typeof newOrder>;

const ended: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

function working(host: Host): void {
  const worker = workerOn(host);
  ended.push(() => worker.stop(1000));
}

function sweeping(host: Host, everyMs = 10): void {
  const sweep = sweepHeldEvents(host, { everyMs, onError: (error) => console.error(error) });
  ended.push(() => sweep.stop());
}

/** A process that dies before it gets to look for the other side. */
function blind(host: Host): Host {
  return { ...host, store: { ...host.store, heldEvents: async () => [], interruptsByCorrelation: async () => [] } };
}

async function hold(host: Host, order: Order, eventId = "e1", payload: unknown = { amount: 12 }): Promise<number> {
  const request = payment(order, { eventId, payload, holdSeconds: 600 });
  return (await sendExternalEvent(host, { caller: ADA, request, record: () => undefined })).answer.status;
}

const startRun = (host: Host, correlation: Order, workflowId = "order") =>
  begin(host, { workflowId, inputs: { correlation } });

const waits = (store: Store, runId: string) => until(store, runId, ({ status }) => status === "waiting-external");
const completed = (store: Store, runId: string) => until(store, runId, ({ status }) => status === "completed");

async function resolutionsOf(store: Store, runIds: readonly string[]): Promise<number> {
  const logs = await Promise.all(runIds.map((runId) => logOf(store, runId)));
  return logs.flat().filter(({ type }) => type === "interrupt.resolved").length;
}

const stillHeld = (store: Store, order: Order) =>
  store.heldEvents({ tenant: "t1", correlationId: correlationIdOf(order), nowMs: Date.now(), limit: 1000 });

test("no more events are held for a tenant that has ten thousand of them, and what is refused leaves no record", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  let held = 9_999;
  const counting = { ...store, countHeldEvents: async (_: string, most: number) => Math.min(held, most) };
  const host = { ...engineOn(store), store: counting };
  await register(host, waitsForPayment("order"));
  const order = newOrder();
  expect(await hold(host, order)).toBe(202);
  held += 1;
  await expect(hold(host, order, "e2")).rejects.toMatchObject({ code: "rate_limited", details: { limit: 10_000 } });
  expect(await stillHeld(store, order)).toHaveLength(1);
  // A repetition gets its first answer.
  expect(await hold(host, order)).toBe(202);
  await store.close();
});

describe.each(BOTH_STORES)("an event that is held and a run that comes to wait for it, on %s", (_, open) => {
  let host: Host;
  beforeEach(async () => {
    const { store, drop } = await open();
    ended.push(async () => {
      await store.close();
      await drop();
    });
    host = engineOn(store);
    await register(host, waitsForPayment("order"));
    const resumeSchema = { type: "object", required: ["signature"] };
    await register(host, waitsForPayment("strict", { resumeSchema }));
  });

  test("find each other however close they come, without anybody sweeping", async () => {
    working(host);
    const runIds = await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const order = newOrder();
        const started = startRun(host, order);
        for (let turns = i % 20; turns > 0; turns--) await new Promise(setImmediate);
        const sent = hold(host, order);
        await sent;
        return started;
      }),
    );
    for (const runId of runIds) await completed(host.store, runId);
    expect(await resolutionsOf(host.store, runIds)).toBe(60);
  });

  test("find each other when the run begins to wait just before the event is held", async () => {
    working(blind(host));
    const order = newOrder();
    let runId = "";
    const commit: Store["commit"] = async (unit) => {
      if (runId === "") {
        runId = await startRun(host, order);
        await waits(host.store, runId);
      }
      return host.store.commit(unit);
    };
    expect(await hold({ ...host, store: { ...host.store, commit } }, order)).toBe(202);
    await completed(host.store, runId);
  });

  test("find each other when whoever held the event died before it could look", async () => {
    working(host);
    const order = newOrder();
    const runId = await startRun(host, order);
    await waits(host.store, runId);
    expect(await hold(blind(host), order)).toBe(202);
    expect(await stillHeld(host.store, order)).toHaveLength(1);
    sweeping(host);
    await completed(host.store, runId);
  });

  test("find each other when the worker died before it could look", async () => {
    working(blind(host));
    const order = newOrder();
    expect(await hold(host, order)).toBe(202);
    const runId = await startRun(host, order);
    await waits(host.store, runId);
    expect(await stillHeld(host.store, order)).toHaveLength(1);
    sweeping(host);
    await completed(host.store, runId);
  });

  test("find each other when the run comes to wait by what somebody decided", async () => {
    await register(host, waitsForPaymentAfterGate("gated"));
    const worker = workerOn(host);
    ended.push(() => worker.stop(1000));
    const order = newOrder();
    const runId = await startRun(host, order, "gated");
    await until(host.store, runId, ({ status }) => status === "waiting-approval");
    expect(await hold(host, order)).toBe(202);
    await accept({ ...host, localWorker: worker }, runId);
    await completed(host.store, runId);
    expect(await stillHeld(host.store, order)).toEqual([]);
  });

  test("meet once when many sweep and several runs wait", async () => {
    working(blind(host));
    const order = newOrder();
    const runIds = [await startRun(host, order), await startRun(host, order), await startRun(host, order)];
    for (const runId of runIds) await waits(host.store, runId);
    for (const eventId of ["e1", "e2"]) await hold(blind(host), order, eventId);
    for (let i = 0; i < 4; i++) sweeping(host, 1);
    await completed(host.store, runIds[0] ?? "");
    await completed(host.store, runIds[1] ?? "");
    expect(await stillHeld(host.store, order)).toEqual([]);
    expect(await resolutionsOf(host.store, runIds)).toBe(2);
    await waits(host.store, runIds[2] ?? "");
  });

  test("are not kept apart by any number of events that nobody can take", async () => {
    working(blind(host));
    const strict = newOrder();
    await waits(host.store, await startRun(host, strict, "strict"));
    await Promise.all(Array.from({ length: 120 }, (_, i) => hold(blind(host), strict, `useless ${i}`)));
    const order = newOrder();
    const runId = await startRun(host, order);
    await waits(host.store, runId);
    await hold(blind(host), order);
    sweeping(host);
    await completed(host.store, runId);
    expect(await stillHeld(host.store, strict)).toHaveLength(120);
  });

  test("are brought together by a sweep only while the event has time left", async () => {
    working(blind(host));
    const order = newOrder();
    const runId = await startRun(host, order);
    await waits(host.store, runId);
    await hold(blind(host), order);
    const tomorrow = { ...host, nowMs: () => Date.now() + 600_000 };
    const looked = new Promise<void>((done) => {
      const heldEvents: Store["heldEvents"] = async (query) => {
        const found = await host.store.heldEvents({ ...query, nowMs: Date.now() });
        done();
        return found;
      };
      sweeping({ ...tomorrow, store: { ...host.store, heldEvents } }, 60_000);
    });
    await looked;
    for (const end of ended.splice(2).reverse()) await end();
    await waits(host.store, runId);
  });
});

describe("a process that starts on the file of one that died", () => {
  test("delivers what was left lying", async () => {
    const path = join(tempDir(), "assay.db");
    const before = await openSqliteStore({ path });
    const dying = blind(engineOn(before));
    await register(dying, waitsForPayment("order"));
    const worker = workerOn(dying);
    const order = newOrder();
    const runId = await startRun(dying, order);
    await waits(before, runId);
    expect(await hold(dying, order)).toBe(202);
    await worker.stop(0);
    await before.close();

    const store = await openSqliteStore({ path });
    ended.push(() => store.close());
    const host = engineOn(store);
    working(host);
    sweeping(host, 60_000);
    await completed(store, runId);
    expect(await resolutionsOf(store, [runId])).toBe(1);
  });
});

describe("two hosts on one PostgreSQL", () => {
  test("deliver every held event once, whichever holds it, runs it or sweeps", async () => {
    const database = await createDatabase();
    ended.push(() => database.drop());
    const stores = [await openPostgresStore({ url: database.url }), await openPostgresStore({ url: database.url })];
    ended.push(() => Promise.all(stores.map((store) => store.close())));
    const hosts = stores.map((store) => engineOn(store));
    const [one, two] = hosts as [Host, Host];
    await register(one, waitsForPayment("order"));
    for (const host of hosts) {
      working(host);
      sweeping(host, 5);
    }
    const pairs = await Promise.all(
      Array.from({ length: 30 }, async (_, i) => {
        const order = newOrder();
        const [here, there] = i % 2 === 0 ? [one, two] : [two, one];
        const [runId, ...statuses] = await Promise.all([
          startRun(here, order),
          ...[here, there, there].map((host) => hold(host, order)),
        ]);
        expect(new Set(statuses).size).toBe(1);
        return { order, runId };
      }),
    );
    for (const { order, runId } of pairs) {
      await completed(one.store, runId);
      expect(await stillHeld(two.store, order)).toEqual([]);
    }
    const runIds = pairs.map(({ runId }) => runId);
    expect(await resolutionsOf(two.store, runIds)).toBe(30);
    const audited = await one.store.readAudit("t1", 1, 10_000, 10_000);
    expect(audited.filter(({ action }) => action === "external_event.delivered")).toHaveLength(30);
  });
});
