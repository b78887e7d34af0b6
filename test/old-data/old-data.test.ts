import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FeedbackFigures, FeedbackSummary } from "../../src/protocol/judgments/feedback-api.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { createEmptyDatabase, type TestDatabase } from "../../src/testing/postgres.ts";
import { type AssayProcess, startAssay } from "../assay-process.js";
import { answers } from "./answers.js";
import { get, KEYS, SERVE } from "./fill.js";

interface Fixture {
  readonly ids: Record<string, string>;
  readonly answers: Record<string, unknown>;
}

/** An hour after the database was filled: its gates have deadlines a day later. */
const CLOCK = new URL("./clock.js?at=2026-11-16T06:10:00Z", import.meta.url).href;

const [owner = "", vera = "", otto = ""] = KEYS.map(({ key }) => key);

function fixture(name: string): Buffer {
  return readFileSync(new URL(`./fixtures/0.1.0.${name}`, import.meta.url));
}

async function openSqlite(folder: string): Promise<string[]> {
  const data = join(folder, "data");
  mkdirSync(data);
  writeFileSync(join(data, "assay.db"), gunzipSync(fixture("sqlite.gz")));
  return ["--data", data];
}

async function openPostgres({ url }: TestDatabase): Promise<string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(gunzipSync(fixture("postgres.sql.gz")).toString());
  await client.end();
  return ["--database-url", url];
}

/** Fingerprints of webhook secrets were longer then. */
const inShort = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer), (name, value) => (name === "secretFingerprint" ? value.slice(0, 8) : value));

const SUMMARY = "/v1/host/assay/feedback/summary?groupBy=workflow";

const allOf = ({ annotations, agents, code }: FeedbackFigures) => annotations + agents.annotations + code.annotations;

const told = ({ type, nodeId, payload }: Record<string, unknown>) => ({ type, nodeId, payload });

describe.each(["sqlite", "postgres"] as const)("a database of version 0.1.0 on %s", (kind) => {
  const recorded: Fixture = JSON.parse(fixture(`${kind}.json`).toString());
  const { ids } = recorded;
  let folder: string;
  let database: TestDatabase | undefined;
  let server: AssayProcess;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "assay-old-data-"));
    database = kind === "postgres" ? await createEmptyDatabase() : undefined;
    const storage = database === undefined ? await openSqlite(folder) : await openPostgres(database);
    server = await startAssay({
      args: [...SERVE, ...storage],
      logFile: join(folder, "server.log"),
      nodeArgs: ["--import", CLOCK],
    });
  });
  afterAll(async () => {
    await server?.stop();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  const decide = (runId: string, key: string) =>
    fetch(`${server.url}/v1/runs/${runId}/interrupts/approve`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ resumeValue: { action: "granted" } }),
    });

  test("answers as version 0.1.0 did, perhaps with more members", async () => {
    const now = await answers(server.url, ids);
    for (const [path, before] of Object.entries(recorded.answers)) {
      if (path === SUMMARY) continue;
      expect({ path, answer: now[path] }).toMatchObject({ path, answer: inShort(before) });
    }
  });

  test("has the feedback that it had, with what was imported counted apart", async () => {
    const before = recorded.answers[SUMMARY] as FeedbackSummary;
    const now: FeedbackSummary = await get(server.url, SUMMARY, owner);
    const untouched = now.groups.filter(({ imported }) => imported === 0);
    expect(untouched.length).toBeGreaterThan(2);
    for (const group of untouched) {
      expect(group).toMatchObject(before.groups.find(({ key }) => key.workflowId === group.key.workflowId) ?? {});
    }
    expect(now.total.imported).toBeGreaterThan(2);
    expect(allOf(now.total) + now.total.imported).toBe(allOf(before.total));
    expect(now.groups.reduce((sum, { imported }) => sum + imported, 0)).toBe(now.total.imported);
  });

  test("has an audit chain that verifies", async () => {
    expect(await get(server.url, "/v1/audit/verify?fromSeq=0&toSeq=40", owner)).toMatchObject({
      chainValid: true,
      anomalies: [],
    });
  });

  test("goes on with the run that was asleep", async () => {
    await eventually(async () => {
      expect(await get(server.url, `/v1/runs/${ids["sleeping"]}`, owner)).toMatchObject({ status: "completed" });
    });
  });

  test.each(["hello", "greeted", "triaged", "cancelled", "approved"])(
    "replays run %s as it was recorded",
    async (name) => {
      const source = await get(server.url, `/v1/runs/${ids[name]}/events/poll`, owner);
      const forked = await fetch(`${server.url}/v1/runs/${ids[name]}:fork`, {
        method: "POST",
        headers: { authorization: `Bearer ${owner}`, "content-type": "application/json" },
        body: JSON.stringify({ fromSeq: 0, mode: "replay" }),
      });
      expect(forked.status).toBe(201);
      const { runId } = (await forked.json()) as { runId: string };
      await eventually(async () => {
        const { isTerminal, events } = await get(server.url, `/v1/runs/${runId}/events/poll`, owner);
        expect(isTerminal).toBe(true);
        expect(events.map(told)).toEqual(source.events.map(told));
      });
    },
  );

  test("keeps the votes of its open gates: one more is enough where one was given, and one is not where none was", async () => {
    expect((await decide(ids["halfApproved"] ?? "", vera)).status).toBe(200);
    expect(await get(server.url, `/v1/runs/${ids["halfApproved"]}`, owner)).toMatchObject({
      status: "waiting-approval",
    });
    expect((await decide(ids["halfApproved"] ?? "", otto)).status).toBe(200);
    expect((await decide(ids["waiting"] ?? "", otto)).status).toBe(200);
    await eventually(async () => {
      expect(await get(server.url, `/v1/runs/${ids["halfApproved"]}`, owner)).toMatchObject({ status: "completed" });
    });
    expect(await get(server.url, `/v1/runs/${ids["waiting"]}`, owner)).toMatchObject({ status: "waiting-approval" });
  });

  test("shows a tenant nothing of another", async () => {
    const headers = { authorization: `Bearer ${KEYS[4]?.key}` };
    expect((await fetch(`${server.url}/v1/runs/${ids["hello"]}`, { headers })).status).toBe(404);
    expect((await fetch(`${server.url}/v1/runs/${ids["foreign"]}`, { headers })).status).toBe(200);
  });
});
