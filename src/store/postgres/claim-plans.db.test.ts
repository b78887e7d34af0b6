import { Kysely, PostgresDialect } from "kysely";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NOW, startedRun } from "../../testing/builders.ts";
import { createDatabase, type TestDatabase } from "../../testing/postgres.ts";
import { save } from "../../testing/store-contract/subject.ts";
import { dueTenants, nextWakeAtMs } from "../read/work-queue.ts";
import type { Tables } from "../schema/tables.ts";
import { CLAIM, CLAIM_AMONG } from "./leases.ts";
import { openPostgresStore } from "./postgres-store.ts";

const RUNS = 100_000;

let database: TestDatabase;
let client: Client;
beforeAll(async () => {
  database = await createDatabase();
  const store = await openPostgresStore({ url: database.url });
  for (const tenant of ["flooded", "small"]) await save(store, startedRun({ tenant }));
  await store.close();
  client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(`insert into runs select (jsonb_populate_record(one, jsonb_build_object('run_id', 'run-' || n, 'wake_at', n))).*
    from runs as one, generate_series(1, ${RUNS}) as n where one.tenant = 'flooded'`);
  await client.query("analyze runs");
}, 120_000);
afterAll(async () => {
  await client.end();
  await database.drop();
});

/** The plan of a claim, as it was carried out; nothing of it stays. */
async function planOf(claim: string, values: readonly unknown[]): Promise<string> {
  await client.query("begin");
  const { rows } = await client.query<{ "QUERY PLAN": string }>(`explain (analyze, timing off) ${claim}`, [...values]);
  await client.query("rollback");
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

/** The plans of all that a call asks of the database. */
async function plansOf(call: (db: Kysely<Tables>) => Promise<unknown>): Promise<string> {
  const plans: string[] = [];
  const query = async (text: string, values: readonly unknown[]) => {
    plans.push(await planOf(text, values));
    return client.query(text, [...values]);
  };
  const pool = { connect: async () => ({ query, release: () => {} }), end: async () => {} };
  await call(new Kysely<Tables>({ dialect: new PostgresDialect({ pool: pool as never }) }));
  return plans.join("\n");
}

/** Rows that were read in vain. */
function removed(plan: string): number {
  return Math.max(0, ...[...plan.matchAll(/Rows Removed by Filter: (\d+)/g)].map(([, rows]) => Number(rows)));
}

const values = [NOW, 1_000_000, 8, "worker", NOW + 1000, 0, 1_000_000];

test("a claim finds its runs by an index, however many are due", async () => {
  const plan = await planOf(CLAIM, values);
  expect(plan).toContain("Index Scan using runs_due ");
  expect(plan).not.toContain("Seq Scan on runs");
  expect(removed(plan)).toBeLessThan(100);
});

test("a claim among tenants finds the runs of each by an index, however many of one are due", async () => {
  const plan = await planOf(CLAIM_AMONG, [...values, ["flooded", "small"]]);
  expect(plan).toContain("Index Scan using runs_due_by_tenant");
  expect(plan).not.toContain("Seq Scan on runs");
  expect(removed(plan)).toBeLessThan(100);
});

test.each<[string, (db: Kysely<Tables>) => Promise<unknown>]>([
  ["tenants with due runs", (db) => dueTenants(db, { nowMs: NOW, engineVersion: 1_000_000, after: "", limit: 8 })],
  ["the next due time", (db) => nextWakeAtMs(db, NOW, 1_000_000)],
])("%s are found without reading all due runs", async (_, call) => {
  const plan = await plansOf(call);
  expect(plan).toMatch(/Index (Only )?Scan using runs_due/);
  expect(plan).not.toContain("Seq Scan on runs");
  expect(removed(plan)).toBeLessThan(100);
});
