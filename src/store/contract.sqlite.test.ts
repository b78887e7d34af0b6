import { join } from "node:path";
import { tempDir } from "../testing/temp-dir.ts";
import { storeContract } from "./contract.ts";
import type { Store } from "./port/store.ts";
import { openSqliteStore } from "./sqlite/sqlite-store.ts";

storeContract("the SQLite store in a file", async () => {
  const path = join(tempDir(), "assay.db");
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
