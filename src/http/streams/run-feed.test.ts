import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import { changesSnapshot, tierOf } from "../../protocol/events.ts";
import { type Change, NO_CHANGE, type Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { nodeCompleted, nodeStarted, runCompleted } from "../../testing/builders.ts";
import { SseClient } from "../../testing/sse-client.ts";
import { randomOf, type StreamHost, streamHost, WrittenRun } from "../../testing/stream-host.ts";
import { RunFeed } from "./run-feed.ts";
import type { RunSubscriber } from "./run-subscriber.ts";

let store: Store;
let host: StreamHost;
beforeEach(async () => {
  store = await openSqliteStore({ path: ":memory:" });
});
afterEach(async () => {
  await host.close();
  await store.close();
  expect(host.reported).toEqual([]);
});

const NEVER_MS = 3_600_000;

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await nextTurn();
}

const SHOWN = {
  updates: (type: string) => tierOf(type) === "updates",
  debug: () => true,
  "updates,debug": () => true,
} as const;

describe("subscribers that come and go while a run is written", () => {
  /** Reads and notifications take their time, so that every order of them occurs somewhere. */
  function jittery(random: (below: number) => number, lost: boolean): Store {
    return {
      ...store,
      readEvents: async (...asked) => {
        await turns(random(3));
        const events = await store.readEvents(...asked);
        await turns(random(4));
        return events;
      },
      readRun: async (...asked) => {
        const run = await store.readRun(...asked);
        await turns(random(4));
        return run;
      },
      onChange: (listener) =>
        store.onChange((change) => {
          if (!lost || random(3) > 0) void turns(random(3)).then(() => listener(change));
        }),
    };
  }

  async function write(run: WrittenRun, random: (below: number) => number): Promise<void> {
    for (let i = 0; i < 25; i++) {
      const drafts = Array.from({ length: 1 + random(4) }, () => (random(2) === 0 ? nodeStarted() : nodeCompleted()));
      await run.append(...drafts);
      await turns(random(5));
    }
    await run.append(runCompleted());
  }

  async function follow(run: WrittenRun, random: (below: number) => number): Promise<() => Promise<void>> {
    const modes = Object.keys(SHOWN) as (keyof typeof SHOWN)[];
    const mode = modes[random(modes.length)] ?? "updates";
    const after = random(3) === 0 ? random(40) : -1;
    const buffer = random(3) === 0 ? `&bufferMs=${1 + random(3)}` : "";
    const headers: Record<string, string> = after < 0 ? {} : { "last-event-id": String(after) };
    const client = await SseClient.open(`${host.url}${run.path}?streamMode=${mode}${buffer}`, headers);
    return async () => {
      expect(await client.closed).toBe("end");
      const docs = client.frames.flatMap(({ event, data }) => {
        const parsed = JSON.parse(data ?? "");
        return event === "batch" ? parsed : [parsed];
      });
      expect(docs.map((doc: { sequence: number }) => doc.sequence)).toEqual(run.sequences(SHOWN[mode], after));
    };
  }

  async function followValues(run: WrittenRun): Promise<() => Promise<void>> {
    const client = await SseClient.open(`${host.url}${run.path}?streamMode=values`);
    return async () => {
      expect(await client.closed).toBe("end");
      const [first = -1] = client.ids;
      expect(client.ids).toEqual([first, ...run.sequences(changesSnapshot, first)]);
      expect(client.frames.at(-1)?.data).toBe(await (await fetch(`${host.url}/v1/runs/${run.runId}`)).text());
    };
  }

  test.each([
    ["is heard of", false],
    ["is heard of now and then", true],
  ])("miss nothing and see nothing twice when every change %s", async (name, lost) => {
    const random = randomOf(name);
    host = await streamHost(jittery(random, lost), { rereadMs: lost ? 3 : NEVER_MS });
    for (let round = 0; round < 20; round++) {
      const run = await WrittenRun.start(store);
      const written = write(run, random);
      const checks: (() => Promise<void>)[] = [];
      for (let i = 0; i < 5; i++) {
        await turns(random(20));
        checks.push(await follow(run, random));
        if (random(3) === 0) checks.push(await followValues(run));
        // Somebody leaves in the middle.
        if (random(4) === 0) (await SseClient.open(host.url + run.path)).disconnect();
      }
      await written;
      for (const check of checks) await check();
    }
    expect(host.feeds.counts()).toMatchObject({ laggingStreams: 0 });
  });
});

describe("a change between a subscriber's read and its joining", () => {
  /** Reads of events give what there was when they were asked, as late as the test wants; changes are told by hand. */
  function held() {
    let release = () => {};
    let gate: Promise<void> | undefined;
    let reads = 0;
    const listeners: ((change: Change) => void)[] = [];
    const slow: Store = {
      ...store,
      readEvents: async (...asked) => {
        const events = await store.readEvents(...asked);
        reads++;
        await gate;
        return events;
      },
      onChange: (listener) => {
        listeners.push(listener);
        return () => {};
      },
    };
    return {
      slow,
      hold: () => {
        gate = new Promise((resolve) => (release = resolve));
        reads = 0;
      },
      readsBegun: async (count: number) => {
        while (reads < count) await nextTurn();
        gate = undefined;
      },
      release: () => release(),
      tell: () => {
        for (const listener of listeners) listener({ ...NO_CHANGE, runIds: "all" });
      },
    };
  }

  test("is not lost when nobody was there to be told", async () => {
    const { slow, hold, readsBegun, release, tell } = held();
    host = await streamHost(slow, { rereadMs: NEVER_MS });
    const run = await WrittenRun.start(store);
    hold();
    const client = await SseClient.open(host.url + run.path);
    await readsBegun(1);
    await run.append(nodeCompleted());
    tell();
    release();
    await client.until(() => client.frames.length === 2);
    expect(client.ids).toEqual([0, 1]);
  });

  test("has its snapshot although another subscriber came with a newer run", async () => {
    const { slow, hold, readsBegun, release, tell } = held();
    host = await streamHost(slow, { rereadMs: NEVER_MS });
    const run = await WrittenRun.start(store);
    const live = await SseClient.open(host.url + run.path);
    await live.until(() => live.frames.length === 1);
    hold();
    const early = await SseClient.open(`${host.url}${run.path}?streamMode=values`);
    await early.until(() => early.frames.length === 1);
    await readsBegun(1);
    await run.append(nodeCompleted());
    const late = await SseClient.open(`${host.url}${run.path}?streamMode=values`);
    await late.until(() => late.frames.length === 1);
    release();
    tell();
    await early.until(() => early.frames.length === 2);
    expect([early.ids, late.ids]).toEqual([[0, 1], [1]]);
  });
});

describe("a feed", () => {
  test("gives one run to hundreds of subscribers, whole, and reads each row once", async () => {
    let liveReads = 0;
    const counting: Store = {
      ...store,
      readEvents: (runId, from, limit) => {
        if (from > 0) liveReads++;
        return store.readEvents(runId, from, limit);
      },
    };
    host = await streamHost(counting, { rereadMs: NEVER_MS });
    const run = await WrittenRun.start(store);
    const url = `${host.url}${run.path}?streamMode=debug`;
    const clients = await Promise.all(Array.from({ length: 400 }, () => SseClient.open(url)));
    for (const client of clients) await client.until(() => client.frames.length === 1);
    expect(host.feeds.counts()).toMatchObject({ openStreams: 400, framesSent: 400 });
    liveReads = 0;
    for (let i = 0; i < 10; i++) await run.append(nodeStarted(), nodeCompleted());
    await run.append(runCompleted());
    for (const client of clients) expect(await client.closed).toBe("end");
    for (const client of clients) expect(client.ids).toEqual(run.sequences());
    expect(liveReads).toBeLessThanOrEqual(22);
  });

  test("lets others have their turn between subscribers, where writing to all of them takes long", async () => {
    host = await streamHost(store);
    const run = await WrittenRun.start(store);
    const feed = new RunFeed(run.runId, store, (error) => host.reported.push(error));
    let [taken, turn] = [0, 0];
    const turns = new Set<number>();
    // Node writes in the next tick.
    const write = () => {
      const begunMs = performance.now();
      while (performance.now() - begunMs < 2);
      turns.add(turn);
      taken += 1;
    };
    const take = () => {
      process.nextTick(write);
      return true;
    };
    for (let i = 0; i < 100; i++) feed.join({ take, finish() {} } as unknown as RunSubscriber, 0);
    feed.wake();
    for (; taken < 100; turn++) await nextTurn();
    expect(turns.size).toBeGreaterThan(5);
  });

  test("of values lets others have their turn between snapshots of a large run, also where little of it is shown", async () => {
    host = await streamHost(store, { rereadMs: NEVER_MS });
    const run = await WrittenRun.start(
      store,
      Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, true])),
    );
    const client = await SseClient.open(`${host.url}${run.path}?streamMode=values`);
    await client.until(() => client.frames.length === 1);
    await run.append(...Array.from({ length: 200 }, () => nodeCompleted()));
    let most = 0;
    for (let before = 1; before < 201; ) {
      await nextTurn();
      const { framesSent } = host.feeds.counts();
      most = Math.max(most, framesSent - before);
      before = framesSent;
    }
    expect(most).toBeLessThan(200);
    await client.until(() => client.frames.length === 201);
  });

  test("reads by itself what nobody told it of", async () => {
    host = await streamHost({ ...store, onChange: () => () => {} }, { rereadMs: 5 });
    const run = await WrittenRun.start(store);
    const client = await SseClient.open(host.url + run.path);
    await run.append(nodeCompleted());
    await run.append(runCompleted());
    expect(await client.closed).toBe("end");
    expect(client.ids).toEqual([0, 1, 2]);
  });

  test("looks at every run when it may have missed something", async () => {
    const listeners: ((change: Change) => void)[] = [];
    const deaf: Store = {
      ...store,
      onChange: (listener) => {
        listeners.push(listener);
        return () => {};
      },
    };
    host = await streamHost(deaf, { rereadMs: NEVER_MS });
    const run = await WrittenRun.start(store);
    const client = await SseClient.open(host.url + run.path);
    await client.until(() => client.frames.length === 1);
    await run.append(nodeCompleted(), runCompleted());
    for (const tell of listeners) tell({ ...NO_CHANGE, runIds: "all" });
    expect(await client.closed).toBe("end");
    expect(client.ids).toEqual([0, 1, 2]);
  });

  test("outlives a database that is away for a while", async () => {
    let away = false;
    const shaky: Store = {
      ...store,
      readEvents: (...asked) =>
        away ? Promise.reject(new AppError("unavailable", { reason: "away" })) : store.readEvents(...asked),
    };
    host = await streamHost(shaky, { rereadMs: 5 });
    const run = await WrittenRun.start(store);
    const before = await SseClient.open(host.url + run.path);
    await before.until(() => before.frames.length === 1);
    away = true;
    const during = await SseClient.open(host.url + run.path);
    await run.append(nodeCompleted());
    await turns(50);
    away = false;
    await run.append(runCompleted());
    for (const client of [before, during]) expect(await client.closed).toBe("end");
    expect([before.ids, during.ids]).toEqual([
      [0, 1, 2],
      [0, 1, 2],
    ]);
  });

  test("cuts its streams and says so when it fails by a mistake of ours", async () => {
    let broken = false;
    const faulty: Store = {
      ...store,
      readEvents: (...asked) => (broken ? Promise.reject(new TypeError("oops")) : store.readEvents(...asked)),
    };
    host = await streamHost(faulty);
    const run = await WrittenRun.start(store);
    const client = await SseClient.open(host.url + run.path);
    await client.until(() => client.frames.length === 1);
    broken = true;
    await run.append(nodeCompleted());
    expect(await client.closed).toBe("cut");
    await expect(SseClient.open(host.url + run.path)).rejects.toThrow("socket hang up");
    expect(host.reported.splice(0)).toEqual([new TypeError("oops"), new TypeError("oops")]);
  });
});
