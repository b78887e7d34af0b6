import { Client } from "pg";
import { afterAll, beforeAll } from "vitest";
import { createDatabase, type TestDatabase } from "../testing/postgres.ts";
import { storeContract } from "./contract.ts";
import type { Store } from "./port/store.ts";
import { openPostgresStore } from "./postgres/postgres-store.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

storeContract("the PostgreSQL store", async () => {
  const opened: Store[] = [];
  const open = async (): Promise<Store> => {
    const store = await openPostgresStore({ url: database.url, poolSize: 4 });
    opened.push(store);
    return store;
  };
  const done = async (): Promise<void> => {
    await Promise.all(opened.map((store) => store.close()));
    await emptyTables(database.url);
  };
  return { store: await open(), reopen: open, done };
});

/** Ten times as fast as a new database for each test. Triggers would refuse; a replica runs none. */
async function emptyTables(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public' and tablename not like 'kysely%'",
  );
  const deletes = rows.map(({ name }) => `delete from ${name}`);
  await client.query(["set session_replication_role = replica", ...deletes].join(";"));
  await client.end();
}
