import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { type TestHost, testHost } from "../../../src/testing/host.ts";
import { JudgmentClient, JudgmentFollower } from "../../../src/testing/judgment-client.ts";
import { createDatabase, type TestDatabase } from "../../../src/testing/postgres.ts";

let database: TestDatabase;
let here: TestHost;
let there: TestHost;
beforeAll(async () => {
  database = await createDatabase();
  // Long enough that only a notification can be what wakes a stream in these tests.
  const streams = { rereadMs: 3_600_000 };
  here = await testHost({ store: await openPostgresStore({ url: database.url }), streams, worker: true });
  there = await testHost({ store: await openPostgresStore({ url: database.url }), streams });
});
afterAll(async () => {
  await here.close();
  await there.close();
  await database.drop();
});

describe("two hosts on one PostgreSQL", () => {
  test("tell of judgments that were recorded at either, in one order, to whoever moves between them", async () => {
    const urls = [await here.listen(), await there.listen()] as const;
    const first = new JudgmentClient(here);
    const second = new JudgmentClient(there);
    const runId = await first.ended();
    const [steadyHere, steadyThere] = [
      await (await JudgmentFollower.open(urls[0])).untilOpen(),
      await (await JudgmentFollower.open(urls[1])).untilOpen(),
    ];
    const write = async (client: JudgmentClient) => {
      for (let i = 0; i < 25; i++) {
        const { annotationId } = await client.rate(runId, 3);
        if (i % 5 === 0) await client.retract(annotationId);
      }
    };
    let writing = true;
    const wander = async () => {
      const told: string[] = [];
      let after = steadyHere.lastId as string;
      for (let i = 0; writing; i++) {
        const live = await JudgmentFollower.open(urls[i % 2] as string, { after });
        await Promise.race([live.until(() => live.ids.length > 2), new Promise((done) => setTimeout(done, 30))]);
        live.disconnect();
        await live.closed;
        told.push(...live.ids);
        after = live.lastId ?? after;
      }
      return { told, last: await JudgmentFollower.open(urls[1], { after }) };
    };
    const wandering = wander();
    await Promise.all([first, second, first, second].map(write));
    writing = false;
    const { told, last } = await wandering;
    const { annotationId } = await first.rate(runId, 1);
    for (const follower of [steadyHere, steadyThere, last]) await follower.untilTold(annotationId);
    expect(steadyHere.ids).toHaveLength(4 * 30 + 1);
    expect(new Set(steadyHere.ids).size).toBe(steadyHere.ids.length);
    expect(steadyThere.ids).toEqual(steadyHere.ids);
    expect([...told, ...last.ids]).toEqual(steadyHere.ids);
    for (const follower of [steadyHere, steadyThere, last]) follower.disconnect();
  });
});
