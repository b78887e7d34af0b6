import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PollResponse } from "../../../src/protocol/runs/api.ts";
import { parse } from "../../../src/protocol/schema.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { nodeCompleted, nodeStarted, runCompleted } from "../../../src/testing/builders.ts";
import { type StreamHost, streamHost, WrittenRun } from "../../../src/testing/stream-host.ts";

let store: Store;
let host: StreamHost;
let runReads = 0;
beforeAll(async () => {
  store = await openSqliteStore({ path: ":memory:" });
  const counting: Store = {
    ...store,
    readRun: (...asked) => {
      runReads++;
      return store.readRun(...asked);
    },
  };
  host = await streamHost(counting);
});
afterAll(async () => {
  await host.close();
  await store.close();
  expect(host.reported).toEqual([]);
});

async function polled(run: WrittenRun, query = "") {
  const answer = await fetch(`${host.url}${run.path}/poll${query}`);
  const text = await answer.text();
  expect([answer.status, text.slice(0, 1)]).toEqual([200, "{"]);
  const body = parse(PollResponse, JSON.parse(text), "poll");
  return { text, ...body, sequences: body.events.map((event) => event.sequence) };
}

/** Resolves when the poll has found nothing and waits. In an object, because a promise would be waited for too. */
async function waiting<T>(poll: () => Promise<T>): Promise<{ answer: Promise<T> }> {
  const before = runReads;
  const answer = poll();
  while (runReads < before + 2) await new Promise((resolve) => setTimeout(resolve, 1));
  return { answer };
}

async function startedRun(): Promise<WrittenRun> {
  const run = await WrittenRun.start(store);
  await run.append(nodeStarted(), nodeCompleted());
  return run;
}

describe("a poll of a live run", () => {
  test("has the log so far, with the stored texts", async () => {
    const run = await startedRun();
    const { text } = await polled(run);
    expect(text).toBe(
      `{"runId":"${run.runId}","events":[${(await run.bodies()).join(",")}],"isComplete":false,"isTerminal":false,"lastSequence":2,"status":"running"}`,
    );
  });

  test("has what comes after the cursor, by either name", async () => {
    const run = await startedRun();
    expect((await polled(run, "?lastSequence=-1")).sequences).toEqual([0, 1, 2]);
    expect((await polled(run, "?lastSequence=0")).sequences).toEqual([1, 2]);
    expect((await polled(run, "?since=1")).sequences).toEqual([2]);
    expect((await polled(run, "?since=0&lastSequence=1")).sequences).toEqual([2]);
  });

  test("waits for the next event and has it", async () => {
    const run = await startedRun();
    const { answer } = await waiting(() => polled(run, "?lastSequence=2&timeout=60"));
    await run.append(nodeStarted("b"));
    expect(await answer).toMatchObject({ sequences: [3], lastSequence: 3, isTerminal: false });
  });

  test("waits past events that the cursor has already, until the run ends", async () => {
    const run = await startedRun();
    const { answer } = await waiting(() => polled(run, "?lastSequence=100&timeout=60"));
    await run.append(nodeStarted("b"));
    await run.append(runCompleted());
    expect(await answer).toMatchObject({ sequences: [], lastSequence: 4, isTerminal: true, status: "completed" });
  });

  test("comes back empty when its time is over", async () => {
    const run = await startedRun();
    const answer = await polled(run, "?lastSequence=2&timeout=1");
    expect(answer).toMatchObject({ sequences: [], lastSequence: 2, isComplete: false });
  });

  test("stops when the client goes away", async () => {
    const run = await startedRun();
    const { answer } = await waiting(async () => {
      const asked = request(`${host.url}${run.path}/poll?lastSequence=2&timeout=60`, { agent: false });
      return asked.on("error", () => {}).end();
    });
    (await answer).destroy();
    const response = host.responses.at(-1);
    while (!response?.closed) await new Promise((resolve) => setTimeout(resolve, 1));
    await new Promise((resolve) => setTimeout(resolve, 10));
    const before = runReads;
    await run.append(nodeStarted("b"));
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(runReads).toBe(before);
  });
});

describe("a poll of a run that is over", () => {
  test("never waits and is the same every time", async () => {
    const run = await startedRun();
    await run.append(runCompleted());
    const first = await polled(run);
    expect(first).toMatchObject({ isComplete: true, isTerminal: true, lastSequence: 3, status: "completed" });
    expect((await polled(run)).text).toBe(first.text);
    for (const after of [3, 4, 1000]) {
      expect(await polled(run, `?lastSequence=${after}`)).toMatchObject({
        events: [],
        lastSequence: 3,
        isTerminal: true,
      });
    }
  });

  test.each([100, 3000])("is whole, also with %i events", async (count) => {
    const run = await startedRun();
    for (let i = 0; i < count; i += 100) await run.append(...Array.from({ length: 100 }, () => nodeStarted()));
    await run.append(runCompleted());
    const bodies = await run.bodies();
    const { text, lastSequence, sequences } = await polled(run, "?lastSequence=9");
    expect(lastSequence).toBe(bodies.length - 1);
    expect(sequences).toEqual(run.sequences(undefined, 9));
    expect(text).toContain(bodies.slice(10).join(","));
    expect((await polled(run, "?lastSequence=9")).text).toBe(text);
  });
});

describe("polls while a run is written", () => {
  test("together make up the log when each goes on from the last answer", async () => {
    const run = await startedRun();
    const seen: number[] = [];
    const reader = (async () => {
      let last = -1;
      for (;;) {
        const { sequences, lastSequence, isTerminal } = await polled(run, `?lastSequence=${last}&timeout=60`);
        seen.push(...sequences);
        last = lastSequence;
        if (isTerminal) return;
      }
    })();
    for (let i = 0; i < 100; i++) await run.append(nodeStarted(), nodeCompleted());
    await run.append(runCompleted());
    await reader;
    expect(seen).toEqual(run.sequences());
  });
});

describe("a poll that makes no sense", () => {
  test.each(["lastSequence=-2", "lastSequence=x", "since=1.5", "timeout=0", "timeout=61", "timeout=x"])(
    "with %s is refused",
    async (query) => {
      const run = await startedRun();
      const answer = await fetch(`${host.url}${run.path}/poll?${query}`);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: "validation_error" });
    },
  );

  test("for a run that is not there is not found", async () => {
    expect((await fetch(`${host.url}/v1/runs/run-none/events/poll`)).status).toBe(404);
  });
});

describe("a host that goes down", () => {
  test("lets waiting polls answer with what there is", async () => {
    const other = await streamHost(store);
    const run = await startedRun();
    const asked = fetch(`${other.url}${run.path}/poll?lastSequence=2&timeout=60`);
    while (other.responses.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    other.feeds.closeAll();
    expect(await (await asked).json()).toMatchObject({ events: [], lastSequence: 2, isTerminal: false });
    await other.close();
  });
});
