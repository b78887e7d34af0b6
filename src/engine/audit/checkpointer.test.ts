import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { auditLogOn, checkpointsOf, record } from "../../testing/audit-log.ts";
import { eventually } from "../../testing/eventually.ts";
import { verifyAudit } from "./verify.ts";

let store: Store;
beforeEach(async () => {
  store = await openSqliteStore({ path: ":memory:" });
});
afterEach(() => store.close());

const T = "acme";
const MINUTE = 60_000;

/** What a database says in which the time of the last checkpoint is written anew again and again. */
const backlogAt = (atMs: () => number) => async () =>
  (await store.auditBacklog()).map((backlog) => ({ ...backlog, checkpointAtMs: atMs() }));

describe("a tenant with entries and no checkpoint yet", () => {
  test("gets its first at the next sweep", async () => {
    const { checkpointer } = await auditLogOn(store);
    await record(store, T, 1);
    await checkpointer.sweep();
    expect(await checkpointsOf(store, T)).toEqual([[0, 1]]);
  });

  test("gets it at once when asked for", async () => {
    const { checkpointer } = await auditLogOn(store);
    await record(store, T, 1);
    await checkpointer.checkpointTenant(T);
    await checkpointer.checkpointTenant(T);
    await checkpointer.checkpointTenant("nobody");
    expect(await checkpointsOf(store, T)).toEqual([[0, 1]]);
    expect(await checkpointsOf(store, "nobody")).toEqual([]);
  });
});

describe("a tenant with a recent checkpoint", () => {
  test("waits until the interval is full", async () => {
    const { checkpointer, host } = await auditLogOn(store);
    await record(store, T, 1);
    await checkpointer.sweep();
    await record(store, T, 3);
    host.pass(4 * MINUTE);
    await checkpointer.sweep();
    expect(await checkpointsOf(store, T)).toEqual([[0, 1]]);
    await record(store, T, 1);
    await checkpointer.sweep();
    expect(await checkpointsOf(store, T)).toEqual([
      [0, 1],
      [1, 5],
    ]);
  });

  test("waits no longer than the interval lasts, and gets none for nothing new", async () => {
    const { checkpointer, host } = await auditLogOn(store);
    await record(store, T, 1);
    await checkpointer.sweep();
    host.pass(10 * MINUTE);
    await checkpointer.sweep();
    await record(store, T, 1);
    // The next sweep would be too late by a moment.
    host.pass(-5 * MINUTE - 500);
    await checkpointer.sweep();
    expect(await checkpointsOf(store, T)).toEqual([
      [0, 1],
      [1, 2],
    ]);
  });

  test("waits no longer when the time of its last checkpoint is put off by hand, over and over", async () => {
    const later = (await auditLogOn(store)).host;
    const putOff = { ...store, auditBacklog: backlogAt(() => later.nowMs() + 4 * MINUTE) };
    const { checkpointer, host } = await auditLogOn(putOff);
    await record(store, T, 4);
    await checkpointer.sweep();
    await record(store, T, 1);
    for (let minute = 0; minute < 5; minute++) {
      await checkpointer.sweep();
      expect(await checkpointsOf(store, T)).toEqual([[0, 4]]);
      host.pass(MINUTE);
      later.pass(MINUTE);
    }
    await checkpointer.sweep();
    expect((await checkpointsOf(store, T)).at(-1)).toEqual([4, 5]);
  });

  test("gets several in a row after a burst, none of them over more than the interval", async () => {
    const { checkpointer, signer } = await auditLogOn(store, { intervalEntries: 1000 });
    await record(store, T, 1);
    await checkpointer.sweep();
    await record(store, T, 2600);
    await checkpointer.sweep();
    expect(await checkpointsOf(store, T)).toEqual([
      [0, 1],
      [1, 1001],
      [1001, 2001],
    ]);
    await checkpointer.checkpointTenant(T);
    expect((await checkpointsOf(store, T)).at(-1)).toEqual([2001, 2601]);
    expect(await verifyAudit(store, signer, T, 0, 3000)).toMatchObject({ chainValid: true, checkpointsValid: true });
  });
});

describe("several checkpointers on one store", () => {
  test("never fork the series", async () => {
    const logs = await Promise.all([1, 2, 3, 4].map(() => auditLogOn(store)));
    for (let round = 0; round < 10; round++) {
      await record(store, T, 11);
      await Promise.all(logs.flatMap(({ checkpointer }) => [checkpointer.sweep(), checkpointer.checkpointTenant(T)]));
    }
    const series = await checkpointsOf(store, T);
    expect(series.map(([prev]) => prev)).toEqual([0, ...series.map(([, at]) => at)].slice(0, -1));
    expect(series.at(-1)?.[1]).toBe(110);
    expect(series.every(([prev, at]) => at - prev <= 4)).toBe(true);
    const [log] = logs;
    if (log) expect(await verifyAudit(store, log.signer, T, 0, 200)).toMatchObject({ chainValid: true });
  });
});

describe("a chain that does not hold", () => {
  test("is not signed, is complained about once per interval, and holds up nobody else", async () => {
    const broken = { ...store, readAudit: tamperedRead(store) };
    const { checkpointer, host, troubles } = await auditLogOn(broken);
    await record(store, "broken", 5);
    await record(store, "sound", 5);
    await checkpointer.sweep();
    await checkpointer.sweep();
    expect(await checkpointsOf(store, "broken")).toEqual([]);
    expect(await checkpointsOf(store, "sound")).toEqual([
      [0, 4],
      [4, 5],
    ]);
    expect(troubles).toHaveLength(1);
    expect(String(troubles[0])).toContain("is broken at entry 4");
    host.pass(6 * MINUTE);
    await checkpointer.sweep();
    expect(troubles).toHaveLength(2);
    await expect(checkpointer.checkpointTenant("broken")).rejects.toThrow("is broken at entry 4");
  });

  function tamperedRead(store: Store): Store["readAudit"] {
    return async (tenant, ...range) =>
      (await store.readAudit(tenant, ...range)).map((entry) =>
        tenant === "broken" && entry.atSequence === 3 ? { ...entry, actor: "mallory" } : entry,
      );
  }
});

describe("a checkpointer that was started", () => {
  test("sweeps at once and again, goes on after trouble, and is quiet once stopped", async () => {
    let away = true;
    const flaky: Store = {
      ...store,
      auditBacklog: () => (away ? Promise.reject(new Error("away")) : store.auditBacklog()),
    };
    const { checkpointer, troubles } = await auditLogOn(flaky, { sweepMs: 5 });
    await record(store, T, 1);
    checkpointer.start();
    checkpointer.start();
    await eventually(() => expect(troubles.length).toBeGreaterThan(1));
    away = false;
    await eventually(async () => expect(await checkpointsOf(store, T)).toEqual([[0, 1]]));
    await checkpointer.stop();
    const backlog = vi.spyOn(flaky, "auditBacklog");
    await record(store, T, 4);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(backlog).not.toHaveBeenCalled();
    expect(await checkpointsOf(store, T)).toEqual([[0, 1]]);
  });
});
