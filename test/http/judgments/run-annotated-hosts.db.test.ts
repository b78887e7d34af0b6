import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import { GateClient } from "../../../src/testing/gate-host.ts";
import { bearer, type TestHost, testHost } from "../../../src/testing/host.ts";
import { createDatabase, type TestDatabase } from "../../../src/testing/postgres.ts";
import { SseClient } from "../../../src/testing/sse-client.ts";

/** A commit with a judgment whose note is `slow` has its place in the history, and ends when this lock is free. */
const LOCK = 4711;
const STALL = `
  create function stall() returns trigger language plpgsql as $$ begin
    if exists (select 1 from annotations where annotation_id = new.annotation_id and note = 'slow') then
      perform pg_advisory_xact_lock(${LOCK});
    end if;
    return null;
  end $$;
  create constraint trigger stall after insert on annotation_changes deferrable initially deferred
    for each row execute function stall()`;

describe("the live notice of a judgment, with two hosts on one PostgreSQL", () => {
  let database: TestDatabase;
  let holder: Client;
  let slow: TestHost;
  let quick: TestHost;
  let gates: GateClient;
  const urls = new Map<TestHost, string>();
  const streams: SseClient[] = [];

  beforeAll(async () => {
    database = await createDatabase();
    // Long enough that only a notification can be what wakes a stream in these tests.
    const settings = { rereadMs: 3_600_000 };
    slow = await testHost({ store: await openPostgresStore({ url: database.url }), streams: settings, worker: true });
    quick = await testHost({ store: await openPostgresStore({ url: database.url }), streams: settings });
    for (const host of [slow, quick]) urls.set(host, await host.listen());
    gates = new GateClient(slow);
    await gates.register("plain", "core.approvalGate", { title: "Ship it?" });
    holder = new Client({ connectionString: database.url });
    await holder.connect();
    await holder.query(STALL);
  });
  afterAll(async () => {
    for (const stream of streams) stream.disconnect();
    await holder.end();
    await slow.close();
    await quick.close();
    await database.drop();
  });

  const follow = async (host: TestHost, runId: string) => {
    const stream = await SseClient.open(`${urls.get(host)}/v1/runs/${runId}/events`, bearer("owner"));
    streams.push(stream);
    return stream;
  };
  const annotate = (host: TestHost, runId: string, note: string) =>
    host.ask("POST", `/v1/runs/${runId}/annotations`, { json: { signal: { kind: "flag" }, note } });
  const notesIn = ({ frames }: SseClient): string[] =>
    frames.flatMap(({ event, data }) => (event === "run.annotated" ? [JSON.parse(data ?? "").note] : []));
  const waiting = async (): Promise<number> => {
    const { rows } = await holder.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rows.length;
  };

  test("is missed by no stream when a judgment with an earlier place is committed later", async () => {
    const runId = await gates.waiting("plain");
    expect((await annotate(slow, runId, "before")).statusCode).toBe(201);
    const early = await follow(slow, runId);
    await holder.query(`select pg_advisory_lock(${LOCK})`);
    const first = annotate(slow, runId, "slow");
    await eventually(async () => expect(await waiting()).toBeGreaterThanOrEqual(1));
    const second = annotate(quick, runId, "quick");
    // The judgment with the later place waits for the one before it: a stream that had read it would be past the other.
    await eventually(async () => expect(await waiting()).toBeGreaterThanOrEqual(2));
    // The first stream on its host, which finds its place in the history now.
    const late = await follow(quick, runId);
    expect([early, late].map(notesIn)).toEqual([[], []]);
    await holder.query(`select pg_advisory_unlock(${LOCK})`);
    for (const answer of await Promise.all([first, second])) expect(answer.statusCode, answer.payload).toBe(201);
    for (const stream of [early, late]) {
      await stream.until(() => notesIn(stream).length === 2);
      expect(notesIn(stream)).toEqual(["slow", "quick"]);
    }
  });
});
