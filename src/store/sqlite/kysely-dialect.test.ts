import { sql } from "kysely";
import { expect, test } from "vitest";
import { turnsOfOthers } from "../../testing/turns.ts";
import { kyselyForTenants, kyselyOver } from "./kysely-dialect.ts";
import type { SqliteDatabase } from "./open-database.ts";

/** A database in which each statement takes so long. */
function slowDatabase(ms: number): SqliteDatabase {
  const all = () => {
    const untilMs = performance.now() + ms;
    while (performance.now() < untilMs);
    return [{ n: 1 }];
  };
  const statement = { all, run: () => ({ changes: 0 }), get: () => undefined, columns: () => ["n"] };
  return { prepare: () => statement, exec: () => {}, close: () => {} };
}

test("statements of many requests at once leave others their turn after those that took some time", async () => {
  const db = kyselyOver(slowDatabase(21));
  const turns = turnsOfOthers();
  await Promise.all(Array.from({ length: 10 }, () => sql`select 1 as n`.execute(db)));
  expect(turns()).toBeGreaterThanOrEqual(9);
});

test("a statement of one tenant does not wait for all those of another that arrived before it", async () => {
  const handles = kyselyForTenants(slowDatabase(21));
  const ended: string[] = [];
  const one = async (tenant: string) => {
    await sql`select 1 as n`.execute(handles(tenant));
    ended.push(tenant);
  };
  await Promise.all([...Array.from({ length: 10 }, () => one("a")), one("b")]);
  expect(ended.indexOf("b")).toBeLessThan(3);
});
