import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { keptStore } from "../testing/kept-store.ts";
import { tempDir } from "../testing/temp-dir.ts";
import { storeContract } from "./contract.ts";
import { openForWriting, type SqliteDatabase } from "./sqlite/open-database.ts";
import { openSqliteStore } from "./sqlite/sqlite-store.ts";

let path: string;
let tables: SqliteDatabase;
let emptyTables: string;
beforeAll(async () => {
  path = join(tempDir(), "assay.db");
  const store = await openSqliteStore({ path });
  await store.close();
  tables = await openForWriting(path);
  emptyTables = emptier(tables);
});
afterAll(async () => {
  await file.close();
  tables.close();
});

const file = keptStore(
  () => openSqliteStore({ path }),
  async () => tables.exec(emptyTables),
);
storeContract("the SQLite store in a file", async () => ({ ...file, store: await file.store() }));

storeContract("the SQLite store in memory", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  return { store, done: () => store.close() };
});

/** The statements that empty all tables. Triggers, which refuse some of the deletes, are made again after them. */
function emptier(db: SqliteDatabase): string {
  const triggers = db.prepare("select name, sql from sqlite_schema where type = 'trigger'").all();
  const tables = db
    .prepare("select name from pragma_table_list where schema = 'main' and type = 'table' and name not glob '*kysely*'")
    .all();
  const made = triggers as { name: string; sql: string }[];
  const emptied = (tables as { name: string }[]).filter(({ name }) => !name.startsWith("sqlite_s"));
  return [
    "begin immediate",
    ...made.map(({ name }) => `drop trigger ${name}`),
    ...emptied.map(({ name }) => `delete from ${name}`),
    "insert into annotation_words (annotation_words) values ('delete-all')",
    ...made.map(({ sql }) => sql),
    "commit",
  ].join(";\n");
}
