import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Store } from "../../../src/store/port/store.ts";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { nodeCompleted, nodeStarted, runCompleted } from "../../../src/testing/builders.ts";
import { createDatabase, type TestDatabase } from "../../../src/testing/postgres.ts";
import { SseClient } from "../../../src/testing/sse-client.ts";
import { type StreamHost, streamHost, WrittenRun } from "../../../src/testing/stream-host.ts";

let database: TestDatabase;
let here: Store;
let there: Store;
let host: StreamHost;
beforeAll(async () => {
  database = await createDatabase();
  here = await openPostgresStore({ url: database.url });
  there = await openPostgresStore({ url: database.url });
  // Long enough that only a notification can be what wakes a stream in these tests.
  host = await streamHost(here, { rereadMs: 3_600_000 });
});
afterAll(async () => {
  await host.close();
  await here.close();
  await there.close();
  await database.drop();
  expect(host.reported).toEqual([]);
});

describe("a run written by another process on the same database", () => {
  test("is streamed as it happens, whole and in order, to everyone", async () => {
    const run = await WrittenRun.start(there);
    const open = (mode: string) => SseClient.open(`${host.url}${run.path}?streamMode=${mode}`);
    const early = [await open("updates"), await open("debug"), await open("values")] as const;
    for (let i = 0; i < 20; i++) await run.append(nodeStarted(), nodeCompleted());
    const late = await open("debug");
    for (let i = 0; i < 20; i++) await run.append(nodeStarted(), nodeCompleted());
    await run.append(runCompleted());
    for (const client of [...early, late]) expect(await client.closed).toBe("end");
    const [updates, debug, values] = early;
    expect(updates.ids).toEqual(run.sequences((type) => type !== "node.started"));
    expect(debug.ids).toEqual(run.sequences());
    expect(late.ids).toEqual(run.sequences());
    expect(values.ids).toEqual(run.sequences(undefined, (values.ids[0] ?? 0) - 1));
    const bodies = await run.bodies();
    expect(debug.frames.map(({ data }) => data)).toEqual(bodies);
    expect(values.frames.at(-1)?.data).toBe(await (await fetch(`${host.url}/v1/runs/${run.runId}`)).text());
  });

  test("wakes a waiting poll", async () => {
    const run = await WrittenRun.start(there);
    const asked = fetch(`${host.url}${run.path}/poll?lastSequence=0&timeout=60`);
    await run.append(nodeStarted());
    expect(await (await asked).json()).toMatchObject({ lastSequence: 1, isTerminal: false });
  });
});
