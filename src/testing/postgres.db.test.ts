import { existsSync } from "node:fs";
import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { createDatabase, createEmptyDatabase } from "./postgres.ts";
import { tempDir } from "./temp-dir.ts";

describe("the PostgreSQL of a test run", () => {
  test("gives each caller an empty database and takes it away again, open connections or not", async () => {
    const [one, two] = await Promise.all([createEmptyDatabase(), createEmptyDatabase()]);
    expect(one.url).not.toBe(two.url);

    const client = new Client({ connectionString: one.url });
    client.on("error", () => {});
    await client.connect();
    const tables = await client.query("select 1 from information_schema.tables where table_schema = 'public'");
    expect(tables.rows).toEqual([]);

    await Promise.all([one.drop(), two.drop()]);
    await expect(new Client({ connectionString: one.url }).connect()).rejects.toThrow("does not exist");
  });

  test("gives up no commit when a process ends, and has connections to spare", async () => {
    const database = await createDatabase();
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query("select name, setting from pg_settings where name = any($1) order by name", [
      ["max_connections", "synchronous_commit"],
    ]);
    await client.end();
    await database.drop();
    expect(rows.map((row) => row.setting)).toEqual(["200", "on"]);
  });
});

test("a temporary directory can be made inside a test", () => {
  expect(existsSync(tempDir())).toBe(true);
});
