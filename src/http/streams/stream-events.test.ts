import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tierOf } from "../../protocol/events.ts";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { nodeCompleted, nodeStarted, runCompleted } from "../../testing/builders.ts";
import { SseClient } from "../../testing/sse-client.ts";
import { type StreamHost, streamHost, WrittenRun } from "../../testing/stream-host.ts";

let store: Store;
let host: StreamHost;
beforeAll(async () => {
  store = await openSqliteStore({ path: ":memory:" });
  host = await streamHost(store);
});
afterAll(async () => {
  await host.close();
  await store.close();
  expect(host.reported).toEqual([]);
});

const chunk = { type: "output.chunk", payload: { nodeId: "a", runId: "r", chunk: "Hel", isLast: false, channel: "x" } };
const lastChunk = {
  type: "output.chunk",
  payload: { nodeId: "a", runId: "r", chunk: "lo", isLast: true, meta: { model: "m" } },
};
const changed = { type: "variable.changed", payload: { name: "n", next: "a\nb\r\u2028", nodeId: "a" } } as const;
const isUpdate = (type: string) => tierOf(type) === "updates";

async function endedRun(): Promise<WrittenRun> {
  const run = await WrittenRun.start(store);
  await run.append(nodeStarted(), changed, chunk, lastChunk, nodeCompleted());
  await run.append(runCompleted());
  return run;
}

async function framesOf(path: string, headers: Record<string, string> = {}) {
  const client = await SseClient.open(host.url + path, headers);
  expect(await client.closed).toBe("end");
  expect(client.text).toBe("");
  return client.frames;
}

describe("the stream of a run that is over", () => {
  test("carries the stored texts of the updates, then closes", async () => {
    const run = await endedRun();
    const client = await SseClient.open(host.url + run.path);
    expect(await client.closed).toBe("end");
    const bodies = await run.bodies();
    expect(client.frames).toEqual(
      run.events
        .filter(({ type }) => isUpdate(type))
        .map(({ sequence, type }) => ({ id: sequence, event: type, data: bodies[sequence] })),
    );
    expect(client.response.headers).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
    });
  });

  test("in debug mode carries everything, message chunks in their own form", async () => {
    const run = await endedRun();
    const frames = await framesOf(`${run.path}?streamMode=debug`);
    expect(frames.map(({ id }) => id)).toEqual(run.sequences());
    expect(frames.map(({ event }) => event)).toEqual([
      "run.started",
      "node.started",
      "variable.changed",
      "ai.message.chunk",
      "ai.message.chunk",
      "node.completed",
      "run.completed",
    ]);
  });

  test("in messages mode carries the message chunks alone", async () => {
    const run = await endedRun();
    const frames = await framesOf(`${run.path}?streamMode=messages`);
    expect(frames.map(({ id, event, data }) => [id, event, JSON.parse(data ?? "")])).toEqual([
      [3, "ai.message.chunk", { nodeId: "a", runId: "r", chunk: "Hel", isLast: false }],
      [4, "ai.message.chunk", { nodeId: "a", runId: "r", chunk: "lo", isLast: true, meta: { model: "m" } }],
    ]);
  });

  test("in mixed modes is in the log's order, every frame named as it is with one mode", async () => {
    const run = await endedRun();
    const named = async (mode: string) =>
      (await framesOf(`${run.path}?streamMode=${mode}`)).map(({ id, event, data }) => [id, event, data]);
    const both = [...(await named("messages")), ...(await named("updates"))];
    expect(await named("messages,updates")).toEqual(both.sort(([a], [b]) => Number(a) - Number(b)));
    expect(await named("debug,updates")).toEqual(await named("debug"));
  });

  test("resumes after any Last-Event-ID, and says nothing when there is nothing after it", async () => {
    const run = await endedRun();
    for (const after of [...run.sequences(), 7, 1000, "99999999999999999999999"]) {
      for (const mode of ["updates", "debug"]) {
        const frames = await framesOf(`${run.path}?streamMode=${mode}`, { "last-event-id": String(after) });
        const admitted = (type: string) => mode === "debug" || isUpdate(type);
        expect(frames.map(({ id }) => id)).toEqual(run.sequences(admitted, Number(after)));
      }
    }
  });

  test("longer than a page comes whole and in order", async () => {
    const run = await WrittenRun.start(store);
    for (let i = 0; i < 30; i++) await run.append(...Array.from({ length: 50 }, () => nodeStarted()));
    await run.append(runCompleted());
    const frames = await framesOf(`${run.path}?streamMode=debug`);
    expect(frames.map(({ id }) => id)).toEqual(run.sequences());
    expect((await framesOf(run.path)).map(({ id }) => id)).toEqual([0, 1501]);
  });
});

describe("the stream of a live run", () => {
  test("opens at once, goes on from the backlog, and closes after the last event", async () => {
    const run = await WrittenRun.start(store);
    const client = await SseClient.open(host.url + run.path);
    await client.until(() => client.frames.length === 1);
    expect(client.comments).toEqual(["ok"]);
    await run.append(nodeStarted(), nodeCompleted());
    await client.until(() => client.frames.length === 2);
    await run.append(runCompleted());
    expect(await client.closed).toBe("end");
    expect(client.ids).toEqual([0, 2, 3]);
  });

  test("is held open by a cursor past the end, shows nothing up to it, and still closes with the run", async () => {
    const run = await WrittenRun.start(store);
    const url = `${host.url}${run.path}?streamMode=debug`;
    const atTheEnd = await SseClient.open(url, { "last-event-id": "0" });
    const past = await SseClient.open(url, { "last-event-id": "2" });
    const farPast = await SseClient.open(url, { "last-event-id": "1000" });
    await run.append(nodeStarted());
    await run.append(nodeCompleted());
    await run.append(nodeStarted("b"));
    await atTheEnd.until(() => atTheEnd.frames.length === 3);
    await run.append(runCompleted());
    for (const client of [atTheEnd, past, farPast]) expect(await client.closed).toBe("end");
    expect([atTheEnd.ids, past.ids, farPast.ids]).toEqual([[1, 2, 3, 4], [3, 4], []]);
  });
});

describe("a stream of values", () => {
  test("is the run as it is, then the run after every change, exactly as GET shows it", async () => {
    const run = await WrittenRun.start(store);
    const shown = async () => (await fetch(`${host.url}/v1/runs/${run.runId}`)).text();
    await run.append(nodeStarted());
    const expected = [{ id: 1, event: "state.snapshot", data: await shown() }];
    const client = await SseClient.open(`${host.url}${run.path}?streamMode=values&bufferMs=5000`);
    await client.until(() => client.frames.length === 1);

    await run.append(changed);
    await run.append(nodeCompleted(), nodeStarted("b"));
    await client.until(() => client.frames.at(-1)?.id === 4);
    expected.push({ id: 4, event: "state.snapshot", data: await shown() });
    // Of the two changes in one commit GET never showed the first; the stream does.
    expect(client.frames.map(({ id }) => id)).toEqual([1, 3, 4]);
    expect(JSON.parse(client.frames[1]?.data ?? "")).toMatchObject({ nodeStates: { a: { status: "completed" } } });

    await run.append({ type: "node.completed", nodeId: "b", payload: { nodeId: "b", outputs: { a: 1, 7: "x" } } });
    expected.push({ id: 5, event: "state.snapshot", data: await shown() });
    await run.append(runCompleted());
    expected.push({ id: 6, event: "state.snapshot", data: await shown() });
    expect(await client.closed).toBe("end");
    expect(client.frames.filter(({ id }) => id !== 3)).toEqual(expected);
    expect(expected.join()).not.toContain("s3cret");
    expect(JSON.parse(expected[0]?.data ?? "")).toMatchObject({ variables: { secret: "[REDACTED]" } });
  });

  test("keeps sensitive values masked wherever they are copied to", async () => {
    const run = await WrittenRun.start(store);
    const client = await SseClient.open(`${host.url}${run.path}?streamMode=values`);
    await client.until(() => client.frames.length === 1);
    const payload = { nodeId: "a", outputs: { said: "[REDACTED]" } };
    await run.append({ type: "node.completed", payload, sealed: { nodeId: "a", outputs: { said: "s3cret" } } });
    await client.until(() => client.frames.length === 2);
    expect(client.frames[1]?.data).toBe(await (await fetch(`${host.url}/v1/runs/${run.runId}`)).text());
    expect(JSON.parse(client.frames[1]?.data ?? "").nodeStates.a.outputs).toEqual({ said: "[REDACTED]" });
    client.disconnect();
  });

  test("of a run that is over is one snapshot, and none for a client that has the last event", async () => {
    const run = await endedRun();
    const path = `${run.path}?streamMode=values`;
    const snapshot = await (await fetch(`${host.url}/v1/runs/${run.runId}`)).text();
    expect(await framesOf(path)).toEqual([{ id: 6, event: "state.snapshot", data: snapshot }]);
    expect(await framesOf(path, { "last-event-id": "5" })).toHaveLength(1);
    expect(await framesOf(path, { "last-event-id": "6" })).toEqual([]);
    expect(await framesOf(path, { "last-event-id": "60" })).toEqual([]);
  });

  test("begins with a snapshot for a client that resumes, also at the end of a live run", async () => {
    const run = await WrittenRun.start(store);
    const client = await SseClient.open(`${host.url}${run.path}?streamMode=values`, { "last-event-id": "0" });
    await client.until(() => client.frames.length === 1);
    await run.append(nodeStarted());
    await client.until(() => client.frames.length === 2);
    expect(client.ids).toEqual([0, 1]);
    client.disconnect();
  });
});

describe("a stream with a buffer", () => {
  test("sends the backlog and what follows as batches with the highest sequence, and ends with the run", async () => {
    const run = await WrittenRun.start(store);
    await run.append(nodeStarted(), nodeCompleted());
    const client = await SseClient.open(`${host.url}${run.path}?bufferMs=5`);
    await client.until(() => client.frames.length === 1);
    await run.append(nodeStarted("b"), nodeCompleted("b"));
    await client.until(() => client.frames.length === 2);
    await run.append(nodeStarted("c"), nodeCompleted("c"), runCompleted());
    expect(await client.closed).toBe("end");
    const bodies = await run.bodies();
    const batch = (...sequences: number[]) => ({
      id: sequences.at(-1),
      event: "batch",
      data: `[${sequences.map((sequence) => bodies[sequence]).join(",")}]`,
    });
    expect(client.frames).toEqual([batch(0, 2), batch(4), batch(6, 7)]);
  });

  test("does not wait when a node is suspended or the run ends, also in modes that do not show it", async () => {
    const suspended = { type: "node.suspended", payload: { nodeId: "a", interruptId: "int-1" } };
    const run = await WrittenRun.start(store);
    const clients = [];
    for (const mode of ["debug", "messages", "debug,messages"]) {
      clients.push(await SseClient.open(`${host.url}${run.path}?streamMode=${mode}&bufferMs=5000`));
    }
    const [debug, messages, mixed] = clients as [SseClient, SseClient, SseClient];
    await run.append(chunk, suspended);
    for (const client of clients) await client.until(() => client.frames.length === 1);
    await run.append(lastChunk);
    await run.append(runCompleted());
    for (const client of clients) expect(await client.closed).toBe("end");
    const sequences = (client: SseClient) =>
      client.frames.map(({ event, data }) => [
        event,
        ...JSON.parse(data ?? "").map((doc: { sequence: number }) => doc.sequence),
      ]);
    expect(sequences(debug)).toEqual([
      ["batch", 0, 1, 2],
      ["batch", 3, 4],
    ]);
    expect(sequences(mixed)).toEqual(sequences(debug));
    expect(sequences(messages)).toEqual([
      ["batch", 1],
      ["batch", 3],
    ]);
  });

  test("of 0 ms is none", async () => {
    const run = await endedRun();
    expect(await framesOf(`${run.path}?bufferMs=0`)).toEqual(await framesOf(run.path));
  });
});

describe("the log as JSON", () => {
  test("has every event whatever the mode, byte for byte", async () => {
    const run = await endedRun();
    const answer = await fetch(`${host.url}${run.path}?streamMode=messages`, {
      headers: { accept: "application/json" },
    });
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    expect(await answer.text()).toBe(`{"events":[${(await run.bodies()).join(",")}]}`);
  });

  test("is streamed when it is long", async () => {
    const run = await WrittenRun.start(store);
    for (let i = 0; i < 30; i++) await run.append(...Array.from({ length: 50 }, () => nodeStarted()));
    const answer = await fetch(host.url + run.path, { headers: { accept: "application/json;q=0.9" } });
    expect(await answer.text()).toBe(`{"events":[${(await run.bodies()).join(",")}]}`);
  });

  test("is only for those who ask for it and not for a stream", async () => {
    const run = await endedRun();
    for (const accept of ["text/event-stream, application/json", "*/*", "text/html"]) {
      const answer = await fetch(host.url + run.path, { headers: { accept } });
      expect(answer.headers.get("content-type")).toBe("text/event-stream");
      await answer.text();
    }
  });
});

describe("a request that makes no sense", () => {
  const json = { accept: "application/json" };

  test.each(["", "everything", "updates,updates", "values,debug"])(
    "with streamMode=%s is told the modes",
    async (mode) => {
      const run = await endedRun();
      const answer = await fetch(`${host.url}${run.path}?streamMode=${mode}`, { headers: json });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        error: "unsupported_stream_mode",
        details: { supported: ["values", "updates", "messages", "debug"] },
      });
    },
  );

  test.each(["-1", "5001", "1.5", "x", ""])("with bufferMs=%s is refused", async (bufferMs) => {
    const run = await endedRun();
    const answer = await fetch(`${host.url}${run.path}?bufferMs=${bufferMs}`, { headers: json });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: "validation_error" });
  });

  test.each(["-1", "1.5", "abc", "0x1", "1 2", "١"])("with Last-Event-ID: %s is refused", async (id) => {
    const run = await endedRun();
    const headers = { ...json, "last-event-id": Buffer.from(id).toString("latin1") };
    const answer = await fetch(host.url + run.path, { headers });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: "validation_error" });
  });

  test("for a run that is not there is not found, whatever its cursor", async () => {
    const answer = await fetch(`${host.url}/v1/runs/run-none/events`, { headers: { "last-event-id": "x" } });
    expect(answer.status).toBe(404);
  });
});
