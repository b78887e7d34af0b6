import { existsSync, realpathSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { auditDraft, newTenant, runWrite, startedRun } from "../../testing/builders.ts";
import { built, startChild } from "../../testing/child-process.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import type { Store } from "../port/store.ts";
import { databasePath, makeDatabaseFile, openForWriting, openReadSnapshot } from "./open-database.ts";
import { openSqliteStore } from "./sqlite-store.ts";

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

describe("the path of a database", () => {
  test("has its folders made, for the owner only, and so is the file", () => {
    const path = databasePath(join(tempDir(), "a", "b", "assay.db"));
    makeDatabaseFile(path);
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("is the same through a link", () => {
    const dir = realpathSync(tempDir());
    writeFileSync(join(dir, "real.db"), "");
    symlinkSync(join(dir, "real.db"), join(dir, "link.db"));
    expect(databasePath(join(dir, "link.db"))).toBe(databasePath(join(dir, "real.db")));
  });

  test.runIf(existsSync("/proc/self"))("is refused where no folder can be made, and does not hang", () => {
    expect(() => databasePath("/proc/no-such-folder/assay.db")).toThrow(/ENOENT|EACCES|EPERM/);
  });
});

async function commitSome(store: Store, tenant: string, units: number): Promise<void> {
  const commit = async () => {
    const started = startedRun({ tenant });
    expect(await store.commit({ tenant, runs: [runWrite(started)], audit: [auditDraft()] })).toEqual({ ok: true });
    expect(await store.readRun({ tenant }, started.run.runId)).toEqual(started.run);
  };
  await Promise.all(Array.from({ length: units }, commit));
}

describe("a snapshot of a database that is being written", () => {
  test("stays as it was when it was taken", async () => {
    const path = join(tempDir(), "assay.db");
    const store = await openSqliteStore({ path });
    await commitSome(store, "t1", 3);
    const snapshot = await openReadSnapshot(path);
    await commitSome(store, "t1", 3);
    const count = snapshot.db.prepare("select count(*) as runs from runs");
    expect(count.get()).toEqual({ runs: 3 });
    expect(() => snapshot.db.exec("delete from runs")).toThrow("readonly");
    snapshot.close();
    // Although the statement above is still referred to, which keeps the connection open behind its close.
    const db = await openForWriting(path);
    db.exec("pragma busy_timeout = 0");
    expect(db.prepare("pragma wal_checkpoint(truncate)").get()).toMatchObject({ busy: 0 });
    db.close();
    expect(count).toBeDefined();
    await store.close();
  });

  test("is consistent in another process, and nobody ever meets a lock", async () => {
    const path = join(tempDir(), "assay.db");
    const store = await openSqliteStore({ path });
    const reader = startChild(`
      const { openReadSnapshot } = await import(${built("store/sqlite/open-database.js")});
      for (;;) {
        const { db, close } = await openReadSnapshot(${JSON.stringify(path)});
        const count = (table) => db.prepare("select count(*) as n from " + table).get().n;
        const [runs, events, audit] = ["runs", "run_events", "audit_log"].map(count);
        console.log(runs === events && events === audit ? "consistent" : [runs, events, audit].join());
        close();
      }
    `);
    await reader.line();
    const tenant = newTenant();
    let more = true;
    const writing = (async () => {
      while (more) await commitSome(store, tenant, 20);
    })();
    const seen = new Set<string | undefined>();
    for (let n = 0; n < 30; n++) seen.add(await reader.line());
    more = false;
    await writing;
    expect([...seen, reader.stderr]).toEqual(["consistent", ""]);
    await store.close();
  });
});
