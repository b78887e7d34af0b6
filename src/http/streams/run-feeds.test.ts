import { request } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { nodeCompleted, runCompleted } from "../../testing/builders.ts";
import { SseClient } from "../../testing/sse-client.ts";
import { type StreamHost, streamHost, WrittenRun } from "../../testing/stream-host.ts";
import { StreamRoom } from "./stream-room.ts";

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

async function openStreams(count: number): Promise<void> {
  while (host.feeds.counts().openStreams !== count) await new Promise((resolve) => setTimeout(resolve, 2));
}

describe("an idle stream", () => {
  test("shows that it is alive", async () => {
    host = await streamHost(store, { keepAliveMs: 5 });
    const run = await WrittenRun.start(store);
    const client = await SseClient.open(host.url + run.path);
    await client.until(() => client.comments.length > 3);
    expect(client.comments.slice(0, 3)).toEqual(["ok", "keepalive", "keepalive"]);
    expect(client.frames).toHaveLength(1);
    client.disconnect();
  });
});

describe("a host with room for two streams", () => {
  test("refuses the third until one has gone, and never refuses the log", async () => {
    host = await streamHost(store, { streamsMax: 2 });
    const run = await WrittenRun.start(store);
    const [first] = [await SseClient.open(host.url + run.path), await SseClient.open(host.url + run.path)];
    const refused = await fetch(host.url + run.path);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(await refused.json()).toMatchObject({
      error: "rate_limited",
      details: { scope: "global", limit: 2, retryAfterMs: 1000 },
    });
    const log = await fetch(host.url + run.path, { headers: { accept: "application/json" } });
    expect(log.status).toBe(200);

    first.disconnect();
    await openStreams(1);
    const third = await SseClient.open(host.url + run.path);
    expect(third.response.statusCode).toBe(200);
    await third.until(() => third.frames.length === 1);
  });
});

describe("the room for streams", () => {
  test("has a quarter left for other tenants when one tenant has taken its share", () => {
    const room = new StreamRoom({ streamsMax: 4 });
    const leave = [1, 2, 3].map(() => {
      room.check("busy");
      return room.take("busy");
    });
    expect(() => room.check("busy")).toThrow(expect.objectContaining({ code: "rate_limited" }));
    room.check("other");
    const leaves = room.take("other");
    expect(() => room.check("third")).toThrow(expect.objectContaining({ code: "rate_limited" }));
    leaves();
    leave[0]?.();
    expect(() => room.check("busy")).not.toThrow();
  });
});

describe("a client that goes away", () => {
  test("leaves nothing behind, and the run is no longer followed", async () => {
    let reads = 0;
    const counting: Store = {
      ...store,
      readEvents: (...asked) => {
        reads++;
        return store.readEvents(...asked);
      },
    };
    host = await streamHost(counting, { rereadMs: 5, keepAliveMs: 5 });
    const run = await WrittenRun.start(store);
    const clients = [];
    for (const query of ["", "?streamMode=values", "?streamMode=debug&bufferMs=5000"]) {
      clients.push(await SseClient.open(host.url + run.path + query));
    }
    await openStreams(3);
    for (const client of clients) client.disconnect();
    await openStreams(0);
    reads = 0;
    await run.append(nodeCompleted());
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(reads).toBe(0);

    // And whoever comes next finds a feed that works.
    const next = await SseClient.open(host.url + run.path);
    await run.append(runCompleted());
    expect(await next.closed).toBe("end");
    expect(next.ids).toEqual([0, 1, 2]);
  });
});

describe("a client that leaves while its run is looked up", () => {
  test("is not counted", async () => {
    let lookedUp = () => {};
    const begun = new Promise<void>((resolve) => (lookedUp = resolve));
    let goOn = () => {};
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    const slow: Store = {
      ...store,
      readRun: async (...asked) => {
        lookedUp();
        await gate;
        return store.readRun(...asked);
      },
    };
    host = await streamHost(slow);
    const run = await WrittenRun.start(store);
    const asked = request(host.url + run.path, { agent: false })
      .on("error", () => {})
      .end();
    await begun;
    asked.destroy();
    const [response] = host.responses;
    while (!response?.closed) await new Promise((resolve) => setTimeout(resolve, 1));
    goOn();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(host.feeds.counts().openStreams).toBe(0);
  });
});

describe("a host that goes down", () => {
  test("ends its streams after what they still hold, and opens no more", async () => {
    host = await streamHost(store);
    const run = await WrittenRun.start(store);
    const plain = await SseClient.open(host.url + run.path);
    const held = await SseClient.open(`${host.url}${run.path}?bufferMs=5000`);
    await plain.until(() => plain.frames.length === 1);
    await run.append(nodeCompleted());
    await plain.until(() => plain.frames.length === 2);
    host.feeds.closeAll();
    for (const client of [plain, held]) expect(await client.closed).toBe("end");
    expect([plain.ids, held.ids]).toEqual([[0, 1], [1]]);
    expect((await fetch(host.url + run.path)).status).toBe(503);
    await openStreams(0);
  });
});
