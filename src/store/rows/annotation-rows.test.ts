import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { kyselyOver } from "../sqlite/kysely-dialect.ts";
import { openForWriting } from "../sqlite/open-database.ts";
import { agentColumn, agentsIn, holdsAgent } from "./annotation-rows.ts";

const HARD = [
  "a",
  "%",
  "_",
  "a\\b",
  'with "quotes"',
  "two\nlines",
  "\nfirst",
  "ünï",
  "\ud83d\ude00",
  "'; drop table runs",
];

describe("the column of agents", () => {
  test.each(HARD)("holds one agent, and several, whatever characters their ids have: %j", (id) => {
    expect(agentsIn(agentColumn([id]))).toEqual([id]);
    expect(agentsIn(agentColumn(["other", id, "last"]))).toEqual(["other", id, "last"]);
  });

  test("holds nothing where there is no agent", () => {
    expect(agentColumn([])).toBeNull();
    expect(agentsIn(null)).toEqual([]);
  });

  test("has at most 1,024 bytes where it holds several, and leaves out whole ids", () => {
    const ids = Array.from({ length: 8 }, (_, i) => `${i}${"ü".repeat(120)}`);
    const column = agentColumn(ids) ?? "";
    expect(Buffer.byteLength(column)).toBeLessThanOrEqual(1024);
    expect(agentsIn(column)).toEqual(ids.slice(0, 4));
    const long = "\u0001".repeat(256);
    expect(agentsIn(agentColumn([long, "b"]))).toEqual([long]);
  });

  test.each(["\nraw", "\nraw\n", "\n1\n", "\n", "\n\n"])("of an earlier version is one id, as it is: %j", (column) => {
    expect(agentsIn(column)).toEqual([column]);
  });
});

test("an agent is found in its column by its whole id only", async () => {
  const db = kyselyOver(await openForWriting(":memory:"));
  const finds = async (column: string | null, asked: string) => {
    const { rows } = await sql<{ n: number }>`select ${holdsAgent(sql`${column}`, asked)} as n`.execute(db);
    return rows[0]?.n === 1;
  };
  for (const id of HARD) {
    const column = agentColumn(["first", id, "last"]);
    expect(await finds(column, id)).toBe(true);
    expect(await finds(column, "first")).toBe(true);
    expect(await finds(column, "last")).toBe(true);
    expect(await finds(agentColumn([id]), id)).toBe(true);
    expect(await finds(agentColumn(["first", `${id}2`]), id)).toBe(false);
    expect(await finds(agentColumn([`${id}2`]), id)).toBe(false);
  }
  expect(await finds(agentColumn(["first", "last"]), "%")).toBe(false);
  expect(await finds(null, "a")).toBe(false);
  await db.destroy();
});
