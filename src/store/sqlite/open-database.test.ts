import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { built, startChild } from "../../testing/child-process.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { openForWriting } from "./open-database.ts";

describe("opening a database", () => {
  test("says nothing, and leaves the warnings of others alone", async () => {
    const child = startChild(`
      const { openForWriting } = await import(${built("store/sqlite/open-database.js")});
      const opening = openForWriting(":memory:");
      process.emitWarning("mind the gap");
      (await opening).close();
      console.log("done");
    `);
    expect(await child.line()).toBe("done");
    await child.line();
    expect(child.stderr).toContain("mind the gap");
    expect(child.stderr).not.toContain("SQLite");
  });

  test("promises that a commit is on disk when it returns", async () => {
    const db = await openForWriting(join(tempDir(), "assay.db"));
    expect(db.prepare("pragma journal_mode").get()).toEqual({ journal_mode: "wal" });
    // 2 is FULL; the drivers' own default in WAL mode may be less.
    expect(db.prepare("pragma synchronous").get()).toEqual({ synchronous: 2 });
    db.close();
  });
});
