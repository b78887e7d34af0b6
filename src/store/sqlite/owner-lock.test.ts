import { symlinkSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { built, startChild } from "../../testing/child-process.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { openSqliteStore } from "./sqlite-store.ts";

/** A process that opens the store, says its id and stays. */
function startOwner(path: string) {
  return startChild(`
    const { openSqliteStore } = await import(${built("store/sqlite/sqlite-store.js")});
    globalThis.store = await openSqliteStore({ path: ${JSON.stringify(path)} });
    console.log(process.pid);
    setInterval(() => {}, 1000);
  `);
}

describe("a database file that another process owns", () => {
  test("is refused, naming that process", async () => {
    const path = join(tempDir(), "assay.db");
    const pid = Number(await startOwner(path).line());
    await expect(openSqliteStore({ path })).rejects.toMatchObject({
      code: "database_in_use",
      details: { path, pid, host: hostname() },
    });
  });

  test("can be opened as soon as that process was killed", async () => {
    const path = join(tempDir(), "assay.db");
    const owner = startOwner(path);
    await owner.line();
    await owner.kill();
    const store = await openSqliteStore({ path });
    await store.ping();
    await store.close();
  });
});

describe("a database file that this process owns", () => {
  test("is not opened twice, under no name", async () => {
    const folder = tempDir();
    const path = join(folder, "assay.db");
    const alias = join(folder, "alias.db");
    const store = await openSqliteStore({ path });
    symlinkSync(path, alias);
    for (const name of [path, alias]) {
      await expect(openSqliteStore({ path: name })).rejects.toMatchObject({
        code: "database_in_use",
        details: { pid: process.pid },
      });
    }
    // The refused attempts did not loosen the lock.
    const other = startOwner(path);
    expect(await other.line()).toBeUndefined();
    expect(other.stderr).toContain("is in use by process");
    await store.close();
  });

  test("is free after a close, and so is one that could not be opened", async () => {
    const path = join(tempDir(), "assay.db");
    await expect(openSqliteStore({ path, migrate: false })).rejects.toMatchObject({ code: "schema_outdated" });
    await (await openSqliteStore({ path })).close();
    await (await openSqliteStore({ path, migrate: false })).close();
  });
});
