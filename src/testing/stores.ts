import { openPostgresStore } from "../store/postgres/postgres-store.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { createDatabase } from "./postgres.ts";

/** For `describe.each`: what holds on one database holds on the other. */
export const STORES = [
  ["SQLite", async () => ({ store: await openSqliteStore({ path: ":memory:" }), drop: async () => {} })],
  [
    "PostgreSQL",
    async () => {
      const database = await createDatabase();
      return { store: await openPostgresStore({ url: database.url }), drop: () => database.drop() };
    },
  ],
] as const;
