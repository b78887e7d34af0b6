import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll } from "vitest";
import { tempDir } from "../testing/temp-dir.ts";
import { storeContract } from "./contract.ts";
import type { Store } from "./port/store.ts";
import { openSqliteStore } from "./sqlite/sqlite-store.ts";

/** A migrated file, which those of the tests are copies of: making one waits for the disk a dozen times. */
let migrated: string;
beforeAll(async () => {
  migrated = join(tempDir(), "migrated.db");
  const store = await openSqliteStore({ path: migrated });
  await store.close();
});

storeContract("the SQLite store in a file", async () => {
  const path = join(tempDir(), "assay.db");
  copyFileSync(migrated, path);
  let store = await openSqliteStore({ path });
  const reopen = async (): Promise<Store> => {
    store = await openSqliteStore({ path });
    return store;
  };
  return { store, reopen, done: () => store.close() };
});

storeContract("the SQLite store in memory", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  return { store, done: () => store.close() };
});
