import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../testing/temp-dir.ts";
import { migrate } from "../schema/migrate.ts";
import { kyselyOver } from "./kysely-dialect.ts";
import { openForWriting } from "./open-database.ts";
import type { Operation } from "./operations.ts";
import { writeInAnotherThread } from "./write-connection.ts";

const ask: Operation = { kind: "statement", sql: "select 1 as one", parameters: [] };

async function migratedFile(): Promise<string> {
  const path = join(tempDir(), "assay.db");
  const db = await openForWriting(path);
  await migrate(kyselyOver(db));
  db.close();
  return path;
}

describe("the thread that writes", () => {
  test("answers a batch in order, and ends when it is closed", async () => {
    const connection = await writeInAnotherThread(await migratedFile());
    const two: Operation = { ...ask, sql: "select 2 as two" };
    expect(await connection.commit([ask, two])).toEqual([
      { kind: "rows", rows: [{ one: 1 }], changes: 1 },
      { kind: "rows", rows: [{ two: 2 }], changes: 1 },
    ]);
    await connection.close();
    await expect(connection.commit([ask])).rejects.toMatchObject({ code: "unavailable" });
  });

  test("takes every call under way and every later one with it when it dies", async () => {
    const connection = await writeInAnotherThread(await migratedFile());
    // A message that was cut off: nothing in the thread is prepared for that.
    await expect(connection.commit(["{"] as never)).rejects.toMatchObject({ code: "unavailable" });
    await expect(connection.commit([ask])).rejects.toMatchObject({ code: "unavailable" });
    await connection.close();
  });

  test("does not start on a file that cannot be opened", async () => {
    await expect(writeInAnotherThread(join(tempDir(), "no such folder", "assay.db"))).rejects.toThrow("open");
  });
});
