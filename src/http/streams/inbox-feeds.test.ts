import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readInbox } from "../../engine/gates/inbox.ts";
import { resolveInterrupt } from "../../engine/gates/resolve-interrupt.ts";
import type { Host } from "../../engine/host.ts";
import { cancelRun } from "../../engine/runs/change-run.ts";
import { deleteRun } from "../../engine/runs/delete-run.ts";
import type { Worker } from "../../engine/worker/worker.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { NO_CHANGE, type Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { ADA, begin, engineOn, register, scriptedEffect, until, workerOn } from "../../testing/engine.ts";
import { InboxReader } from "../../testing/inbox-reader.ts";
import { randomOf } from "../../testing/stream-host.ts";
import { workflow } from "../../testing/workflow.ts";
import { InboxFeeds } from "./inbox-feeds.ts";
import { STREAM_DEFAULTS, StreamRoom, type StreamSettings } from "./stream-room.ts";

const BEN: Caller = { ...ADA, principal: "ben", keyId: "key-ben" };
const SETTINGS: StreamSettings = { ...STREAM_DEFAULTS, bufferedBytesMax: 512, inboxRereadMs: 3_600_000, rereadMs: 5 };

let store: Store;
let host: Host;
let effect: ReturnType<typeof scriptedEffect>;
let worker: Worker;
let feeds: InboxFeeds;
const reported: unknown[] = [];
beforeEach(async () => {
  store = await openSqliteStore({ path: ":memory:" });
  effect = scriptedEffect("test.effect");
  host = engineOn(store, [effect]);
  worker = workerOn(host);
  const gate = { typeId: "core.approvalGate", config: { title: "Ship it?", requiredApprovals: 2 } };
  await register(host, workflow({ id: "gated", nodes: { gate } }));
});
afterEach(async () => {
  feeds.closeAll();
  await worker.stop(0);
  await store.close();
  expect(reported.splice(0)).toEqual([]);
});

function feedsOn(over: Partial<Store>, settings: Partial<StreamSettings> = {}): { room: StreamRoom } {
  const room = new StreamRoom(SETTINGS);
  const report = (error: unknown) => void reported.push(error);
  feeds = new InboxFeeds(
    { ...host, store: { ...host.store, ...over } },
    { settings: { ...SETTINGS, ...settings }, room, report },
  );
  return { room };
}

async function openGate(): Promise<{ runId: string; interruptId: string }> {
  const runId = await begin(host, { workflowId: "gated" });
  const { interrupts } = await until(store, runId, (run) => run.status === "waiting-approval");
  return { runId, interruptId: Object.keys(interrupts)[0] ?? "" };
}

function vote(caller: Caller, runId: string, action = "accept") {
  const of = { nodeId: "gate" };
  return resolveInterrupt(host, { caller, runId, of, value: { action }, record: () => undefined });
}

function cancel(runId: string) {
  return cancelRun(host, { caller: ADA, runId, request: {}, record: () => undefined });
}

describe("readers that take what waits at any time", () => {
  test.each(["a", "b", "c", "d"])("show in the end what is open, and never a gate twice (%s)", async (seed) => {
    const random = randomOf(seed);
    const { room } = feedsOn({});
    const readers: InboxReader[] = [];
    const gates: { runId: string; interruptId: string }[] = [];
    for (let step = 0; step < 150; step++) {
      const gate = gates[random(Math.max(1, gates.length))];
      const what = random(9);
      if (what < 3) gates.push(await openGate());
      else if (what < 5 && gate) await vote(ADA, gate.runId).catch(() => {});
      else if (what < 6 && gate) await vote(BEN, gate.runId, random(2) === 0 ? "accept" : "reject").catch(() => {});
      else if (what < 7 && gate) await cancel(gate.runId);
      else if (what < 8 && readers.length < 6) readers.push(new InboxReader(feeds, random(2) === 0 ? ADA : BEN));
      else for (const reader of readers) if (random(2) === 0) reader.response.takeAll();
    }
    const last = new InboxReader(feeds, ADA);
    const { items } = await readInbox(host, ADA, { limit: 200 });
    const expected = items.map(({ interruptId, granted }) => [interruptId, granted]);
    for (const reader of [...readers, last]) {
      const shown = () => [...reader.open.values()].map(({ interruptId, granted }) => [interruptId, granted]).sort();
      await reader.until(() => JSON.stringify(shown()) === JSON.stringify(expected.sort()));
      await reader.told();
      for (const { interruptId } of gates) {
        const story = reader.about(interruptId).join(" ");
        expect(story).toMatch(/^(opened( updated)*( closed)?)?$/);
      }
      // A full buffer and the frame that filled it.
      expect(reader.response.most).toBeLessThan(2048);
    }
    for (const reader of [...readers, last]) reader.response.end();
    expect(room).toMatchObject({ open: 0, tally: { lagging: 0 } });
  });
});

describe("a reader that fell behind", () => {
  test("is told of what is so now, once it takes what waits", async () => {
    const { room } = feedsOn({});
    const reader = new InboxReader(feeds, ADA);
    await reader.told();
    const gates = [];
    for (let i = 0; i < 6; i++) gates.push(await openGate());
    while (room.tally.lagging === 0) await sleep(1);
    const unseen = gates.at(-1);
    expect(reader.about(unseen?.interruptId ?? "")).toEqual([]);
    await cancel(unseen?.runId ?? "");
    const late = await openGate();
    await reader.until(() => reader.open.has(late.interruptId) && reader.open.size === gates.length);
    expect(reader.about(unseen?.interruptId ?? "")).toEqual([]);
    for (const { interruptId } of gates.slice(0, -1)) expect(reader.about(interruptId)).toEqual(["opened"]);
    expect(room.tally.lagging).toBe(0);
  });
});

test("a run is read once for all of its gates and readers, when an inbox is opened and when the run changes", async () => {
  const gates = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`g${i}`, { typeId: "core.approvalGate" }]));
  await register(host, workflow({ id: "gates", nodes: gates }));
  const runId = await begin(host, { workflowId: "gates" });
  await until(store, runId, (run) => run.status === "waiting-approval");
  let reads = 0;
  const readRun: Store["readRun"] = (...query) => {
    reads += 1;
    return host.store.readRun(...query);
  };
  feedsOn({ readRun }, { bufferedBytesMax: 10_000_000 });
  const readers = [new InboxReader(feeds, ADA), new InboxReader(feeds, BEN)];
  for (const reader of readers) await reader.told();
  expect(readers.map(({ open }) => open.size)).toEqual([9, 9]);
  expect(reads).toBeLessThanOrEqual(2);
  reads = 0;
  const of = { nodeId: "g0" };
  await resolveInterrupt(host, { caller: ADA, runId, of, value: { action: "accept" }, record: () => undefined });
  for (const reader of readers) await reader.until(() => reader.open.size === 8);
  expect(reads).toBeLessThanOrEqual(2);
});

describe("when the store's word is lost", () => {
  test("the inbox is read again from time to time", async () => {
    feedsOn({ onChange: () => () => {} }, { inboxRereadMs: 20 });
    const reader = new InboxReader(feeds, ADA);
    await reader.told();
    const gate = await openGate();
    await reader.until(() => reader.open.has(gate.interruptId));
    await vote(BEN, gate.runId);
    await reader.until(() => reader.open.get(gate.interruptId)?.["granted"] === 1);
    await vote(ADA, gate.runId);
    await reader.until(() => !reader.open.has(gate.interruptId));
    expect(reader.about(gate.interruptId)).toEqual(["opened", "updated", "closed"]);
    expect(reader.frames.at(-1)?.data).toMatchObject({ status: "resolved", outcome: "granted" });
  });

  test("it is read again when the store says that it may have been", async () => {
    let tell: Parameters<Store["onChange"]>[0] = () => {};
    feedsOn({
      onChange: (listener) => {
        tell = listener;
        return () => {};
      },
    });
    const reader = new InboxReader(feeds, ADA);
    await reader.told();
    const gate = await openGate();
    expect(reader.open.size).toBe(0);
    tell({ ...NO_CHANGE, runIds: "all" });
    await reader.until(() => reader.open.has(gate.interruptId));
  });

  test("a gate that is out of time leaves although nobody works on its run", async () => {
    await register(
      host,
      workflow({ id: "short", nodes: { gate: { typeId: "core.approvalGate", config: { timeoutMs: 300 } } } }),
    );
    feedsOn({ onChange: () => () => {} }, { inboxRereadMs: 20 });
    const runId = await begin(host, { workflowId: "short" });
    await until(store, runId, (run) => run.status === "waiting-approval");
    await worker.stop(0);
    const reader = new InboxReader(feeds, ADA);
    await reader.told();
    await reader.until(() => reader.frames.some(({ event }) => event === "inbox.closed"));
    expect(reader.frames.at(-1)?.data).toMatchObject({ runId, status: "expired" });
    expect((await store.readRun({ tenant: "t1" }, runId))?.status).toBe("waiting-approval");
  });
});

describe("a run that is being cancelled", () => {
  test("takes its gate away at once, and only once", async () => {
    await register(host, workflow({ id: "both", nodes: { gate: "core.approvalGate", slow: effect.typeId } }));
    feedsOn({});
    const reader = new InboxReader(feeds, ADA);
    const runId = await begin(host, { workflowId: "both" });
    await effect.called(1);
    await reader.until(() => reader.open.size === 1);
    // Nobody is left to end it, so it stays as it is.
    await worker.stop(0);
    await cancel(runId);
    await reader.until(() => reader.open.size === 0);
    expect((await store.readRun({ tenant: "t1" }, runId))?.status).toBe("cancelling");
    expect(reader.frames.at(-1)?.data).toMatchObject({ runId, status: "cancelled" });
    worker = workerOn(host);
    await until(store, runId, ({ status }) => status === "cancelled");
    const marker = await openGate();
    await reader.until(() => reader.open.has(marker.interruptId));
    expect(reader.frames.filter(({ data }) => data["runId"] === runId)).toHaveLength(2);
  });
});

describe("a run that is cancelled and deleted before anybody looks", () => {
  test.each(["told", "read again"])("takes its gate away, also from a reader that is slow (%s)", async (how) => {
    let tell: Parameters<Store["onChange"]>[0] = () => {};
    const onChange: Store["onChange"] = (listener) => {
      tell = listener;
      return () => {};
    };
    const { room } = feedsOn({ onChange }, how === "told" ? {} : { inboxRereadMs: 20 });
    const gates = [];
    for (let i = 0; i < 12; i++) gates.push(await openGate());
    const reader = new InboxReader(feeds, ADA);
    await reader.told();
    for (const { runId } of gates) {
      await cancel(runId);
      await deleteRun(host, { caller: ADA, runId, record: () => undefined });
    }
    if (how === "told") tell({ ...NO_CHANGE, runIds: gates.map(({ runId }) => runId) });
    while (room.tally.lagging === 0) await sleep(1);
    await reader.until(() => reader.open.size === 0);
    for (const { interruptId } of gates) expect(reader.about(interruptId)).toEqual(["opened", "closed"]);
  });
});

describe("a database that is away", () => {
  test("costs time, and nothing else", async () => {
    let away = true;
    const whenBack = <A extends unknown[], T>(read: (...asked: A) => Promise<T>) => {
      return async (...asked: A) => {
        if (away) throw new AppError("unavailable", { reason: "away" });
        return read(...asked);
      };
    };
    const { openInterrupts, interruptsOfRuns, membershipOf } = host.store;
    feedsOn({
      openInterrupts: whenBack(openInterrupts),
      interruptsOfRuns: whenBack(interruptsOfRuns),
      membershipOf: whenBack(membershipOf),
    });
    const before = await openGate();
    const reader = new InboxReader(feeds, ADA);
    const meanwhile = await openGate();
    expect(reader.frames).toEqual([]);
    away = false;
    await reader.told();
    expect([...reader.open.keys()]).toEqual([before.interruptId, meanwhile.interruptId]);
    away = true;
    await vote(ADA, before.runId);
    await vote(BEN, before.runId);
    await sleep(20);
    away = false;
    await reader.until(() => !reader.open.has(before.interruptId));
    expect(reader.about(before.interruptId)).toEqual(["opened", "closed"]);
  });
});

describe("a mistake of ours", () => {
  test("is told once and ends the streams, so that clients come back", async () => {
    feedsOn({
      openInterrupts: async () => {
        throw new TypeError("a bug");
      },
    });
    const readers = [new InboxReader(feeds, ADA), new InboxReader(feeds, ADA)];
    const ended = readers.map(({ response }) => new Promise((resolve) => response.once("close", resolve)));
    await Promise.all(ended);
    expect(reported.splice(0)).toMatchObject([{ message: "a bug" }]);
  });
});

describe("many readers of one tenant", () => {
  test("share every read", async () => {
    const calls = { changes: 0, pages: 0, runs: 0 };
    const { openInterrupts, interruptsOfRuns, readRun } = host.store;
    let told = 0;
    const counted: Partial<Store> = {
      openInterrupts: (...asked) => {
        calls.pages += 1;
        return openInterrupts(...asked);
      },
      interruptsOfRuns: (...asked) => {
        calls.changes += 1;
        return interruptsOfRuns(...asked);
      },
      readRun: (...asked) => {
        calls.runs += 1;
        return readRun(...asked);
      },
    };
    feedsOn(counted, { bufferedBytesMax: 1_000_000 });
    const stop = store.onChange(() => {
      told += 1;
    });
    await openGate();
    const readers = Array.from({ length: 20 }, () => new InboxReader(feeds, ADA));
    for (const reader of readers) await reader.told();
    expect(calls.pages).toBeLessThanOrEqual(2);
    expect(calls.runs).toBeLessThanOrEqual(2);
    const before = told;
    calls.changes = 0;
    const gate = await openGate();
    await vote(ADA, gate.runId);
    for (const reader of readers) await reader.until(() => reader.about(gate.interruptId).includes("updated"));
    expect(calls.changes).toBeLessThanOrEqual(told - before);
    expect(calls.runs).toBeLessThanOrEqual(2 + calls.changes);
    stop();
  });
});
