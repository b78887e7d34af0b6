import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { nodeStarted, runCompleted } from "../../testing/builders.ts";
import { ADA, engineOn } from "../../testing/engine.ts";
import { FakeResponse } from "../../testing/fake-response.ts";
import { SseClient } from "../../testing/sse-client.ts";
import { randomOf, type StreamHost, streamHost, WrittenRun } from "../../testing/stream-host.ts";
import { parseStreamMode } from "./event-frames.ts";
import { RunFeeds } from "./run-feeds.ts";

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

const BODY_BYTES = 48 * 1024;
const KERNEL_TAKES = 16 * 1024 * 1024;

/** What the operating system's own buffers cannot hold. */
const EVENTS = Math.ceil(KERNEL_TAKES / BODY_BYTES);

function large(nodeId: string) {
  return { type: "node.completed", nodeId, payload: { nodeId, outputs: { text: "x".repeat(BODY_BYTES) } } } as const;
}

/** The most that ever waited for a connection, looked at after every commit. */
async function writeWhileWatching(run: WrittenRun, streams: StreamHost["responses"], events: number) {
  let most = 0;
  const lagging = new Set<number>();
  for (let i = 0; i < events; i++) {
    await run.append(large("a"));
    for (const stream of streams) most = Math.max(most, stream.writableLength);
    lagging.add(host.feeds.counts().laggingStreams);
  }
  return { most, lagging };
}

describe("readers that take what waits at any time", () => {
  test("get everything once and in order, whatever the time", async () => {
    host = await streamHost(store);
    const random = randomOf("takers");
    const feeds = new RunFeeds(engineOn(store), {
      settings: { bufferedBytesMax: 2000 },
      report: (error) => host.reported.push(error),
    });
    for (let round = 0; round < 60; round++) {
      const run = await WrittenRun.start(store);
      const readers = Array.from({ length: 4 }, () => new FakeResponse());
      const ended = readers.map((reader) => once(reader, "close"));
      const modes = parseStreamMode(round % 3 === 0 ? "values" : "debug");
      const bufferMs = round % 3 === 1 ? 1 : 0;
      for (const reader of readers) {
        feeds.open({
          runId: run.runId,
          visible: ADA,
          modes,
          bufferMs,
          after: -1,
          version: run.events.length,
          response: reader as unknown as ServerResponse,
        });
        if (random(2) === 0) await run.append(nodeStarted());
      }
      for (let i = 0; i < 30; i++) {
        await run.append(...Array.from({ length: 1 + random(8) }, () => nodeStarted()));
        for (const reader of readers) if (random(4) === 0) reader.takeAll();
        if (random(3) === 0) await nextTurn();
      }
      await run.append(runCompleted());
      const taking = setInterval(() => {
        for (const reader of readers) reader.takeAll();
      }, 1);
      await Promise.all(ended);
      clearInterval(taking);

      for (const { text, most } of readers) {
        const sequences = [...text.matchAll(/"sequence":(\d+)/g)].map(([, sequence]) => Number(sequence));
        const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
        if (modes.key === "values") expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
        else expect(sequences).toEqual(run.sequences());
        expect(ids.at(-1)).toBe(run.events.length - 1);
        // The limit, and what was under way when it was passed.
        expect(most).toBeLessThan(2000 + 64 * 1024 + 2000);
      }
    }
    expect(feeds.counts()).toMatchObject({ openStreams: 0, laggingStreams: 0 });
    feeds.closeAll();
  });
});

describe("a reader that does not keep up", () => {
  const limit = 64 * 1024;
  // One chunk may be under way when the limit is passed: several events of 64 KiB at most, or one larger.
  const bound = limit + 2 * 64 * 1024;

  test.each(["updates", "values", "updates&bufferMs=1"])(
    "in mode %s is fed from the store when it reads again, costs bounded memory, and slows nobody",
    async (mode) => {
      host = await streamHost(store, { bufferedBytesMax: limit });
      const run = await WrittenRun.start(store);
      const fast = await SseClient.open(`${host.url}${run.path}?streamMode=debug`);
      const slow = await SseClient.open(`${host.url}${run.path}?streamMode=${mode}`, {}, false);
      const other = await SseClient.open(`${host.url}${run.path}?streamMode=values`);
      await fast.until(() => fast.frames.length === 1);

      const { most, lagging } = await writeWhileWatching(run, host.responses, EVENTS);
      expect(most).toBeGreaterThan(limit);
      expect(most).toBeLessThanOrEqual(bound);
      expect(lagging).toContain(1);
      // The others have everything while the slow one has not begun to read.
      await fast.until(() => fast.frames.length === run.events.length);
      await other.until(() => other.frames.at(-1)?.id === EVENTS);

      slow.read();
      if (mode !== "values") await slow.until(() => slow.frames.length > 10);
      await run.append(nodeStarted(), large("b"), runCompleted());
      for (const client of [fast, slow, other]) expect(await client.closed).toBe("end");
      expect(fast.ids).toEqual(run.sequences());
      const last = run.events.length - 1;
      if (mode === "values") {
        // Snapshots that went by unseen are left out; the order is kept and the last one is the run as it ended.
        expect(slow.ids).toEqual([...new Set(slow.ids)].sort((a, b) => a - b));
        expect(slow.frames.at(-1)).toEqual(other.frames.at(-1));
      } else {
        const docs = slow.frames.flatMap(({ event, data }) => {
          const parsed = JSON.parse(data ?? "");
          return event === "batch" ? parsed : [parsed];
        });
        expect(docs.map((doc) => doc.sequence)).toEqual(run.sequences((type) => type !== "node.started"));
      }
      expect(slow.ids.at(-1)).toBe(last);
      expect(host.feeds.counts()).toMatchObject({ laggingStreams: 0 });
    },
  );

  test("and asks for a long backlog gets it piece by piece", async () => {
    host = await streamHost(store, { bufferedBytesMax: limit });
    const run = await WrittenRun.start(store);
    for (let i = 0; i < EVENTS; i += 10) await run.append(...Array.from({ length: 10 }, () => large("a")));
    const slow = await SseClient.open(host.url + run.path, {}, false);
    await run.append(runCompleted());
    const [stream] = host.responses;
    let most = 0;
    slow.response.on("data", () => {
      most = Math.max(most, stream?.writableLength ?? 0);
    });
    slow.read();
    expect(await slow.closed).toBe("end");
    expect(slow.ids).toEqual(run.sequences());
    expect(most).toBeLessThanOrEqual(bound);
  });

  test("and takes nothing at all is cut, and can resume where it was", async () => {
    host = await streamHost(store, { bufferedBytesMax: limit, stallMs: 60 });
    const run = await WrittenRun.start(store);
    const stalled = await SseClient.open(host.url + run.path, {}, false);
    await writeWhileWatching(run, host.responses, EVENTS);
    while (host.feeds.counts().openStreams > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(host.feeds.counts()).toMatchObject({ laggingStreams: 0 });

    stalled.read();
    expect(await stalled.closed).toBe("cut");
    const resumed = await SseClient.open(host.url + run.path, { "last-event-id": String(stalled.ids.at(-1)) });
    await run.append(runCompleted());
    expect(await resumed.closed).toBe("end");
    expect([...stalled.ids, ...resumed.ids]).toEqual(run.sequences());
  });

  test("but has taken everything is left alone however long nothing happens", async () => {
    host = await streamHost(store, { stallMs: 15, keepAliveMs: 10 });
    const run = await WrittenRun.start(store);
    const quiet = await SseClient.open(host.url + run.path);
    await quiet.until(() => quiet.comments.length === 8);
    await run.append(runCompleted());
    expect(await quiet.closed).toBe("end");
  });
});
