import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventRoutes } from "../../../src/http/routes/events.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { bearer, type TestHost, testHost } from "../../../src/testing/host.ts";
import { SseClient } from "../../../src/testing/sse-client.ts";

let host: TestHost;
let url: string;
beforeEach(async () => {
  host = await testHost({ worker: true });
  url = await host.listen();
});
afterEach(async () => {
  await host.close();
  expect(host.logged.filter(({ level }) => level === "error")).toEqual([]);
});

describe("the events of a run that a worker executes", () => {
  test("are the same by stream, by poll and as a list", async () => {
    const runId = await host.newRun();
    const headers = bearer("owner");
    const client = await SseClient.open(`${url}/v1/runs/${runId}/events?streamMode=debug`, headers);
    expect(await client.closed).toBe("end");
    expect(client.response.headers["x-request-id"]).toMatch(/^req-/);
    expect(client.frames.at(-1)?.event).toBe("run.completed");

    const poll = await fetch(`${url}/v1/runs/${runId}/events/poll`, { headers });
    const { events, ...rest } = (await poll.json()) as { events: unknown[] };
    expect(client.frames.map(({ data }) => JSON.parse(data ?? ""))).toEqual(events);
    const lastSequence = events.length - 1;
    expect(rest).toEqual({ runId, isComplete: true, isTerminal: true, lastSequence, status: "completed" });

    const list = await fetch(`${url}/v1/runs/${runId}/events`, { headers: { ...headers, accept: "application/json" } });
    expect(await list.json()).toEqual({ events });
  });

  test("are not for another tenant, whatever it asks", async () => {
    const runId = await host.newRun();
    for (const path of ["events", "events?streamMode=values", "events/poll"]) {
      const answer = await fetch(`${url}/v1/runs/${runId}/${path}`, { headers: bearer("other") });
      expect(answer.status).toBe(404);
    }
  });
});

describe("a server that closes", () => {
  test("ends its streams and answers its polls first", async () => {
    let runReads = 0;
    const store = await openSqliteStore({ path: ":memory:" });
    const counting: Store = {
      ...store,
      readRun: (...asked) => {
        runReads++;
        return store.readRun(...asked);
      },
    };
    const idle = await testHost({ store: counting });
    const address = await idle.listen();
    const runId = await idle.newRun();
    const headers = bearer("owner");
    const client = await SseClient.open(`${address}/v1/runs/${runId}/events`, headers);
    await client.until(() => client.frames.length === 1);
    runReads = 0;
    const poll = SseClient.open(`${address}/v1/runs/${runId}/events/poll?lastSequence=0&timeout=60`, headers);
    while (runReads === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const closing = idle.close();
    expect(await client.closed).toBe("end");
    expect((await poll).response.statusCode).toBe(200);
    await closing;
  });
});

describe("the metrics of the event routes", () => {
  test("begin at nothing", async () => {
    const routes = eventRoutes(host.host, { report: () => {} });
    expect(routes.openStreams()).toBe(0);
    expect(routes.samples().map(({ name, value }) => [name, value])).toEqual([
      ["assay_event_streams_lagging", 0],
      ["assay_event_stream_frames_total", 0],
    ]);
    await routes.close();
  });
});
