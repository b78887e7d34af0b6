import type { Store } from "../store/port/store.ts";
import { openPostgresStore } from "../store/postgres/postgres-store.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { inLongForm } from "./long-form.ts";
import { createDatabase } from "./postgres.ts";

/** An empty database of the test's own, for `describe.each`. */
export const BOTH_STORES: readonly (readonly [string, () => Promise<{ store: Store; drop(): Promise<void> }>])[] = [
  ["SQLite", async () => ({ store: await openSqliteStore({ path: ":memory:" }), drop: async () => {} })],
  [
    "PostgreSQL",
    async () => {
      const database = await createDatabase();
      // A transaction whose process is kept waiting by a busy machine is not a failure.
      const store = await openPostgresStore({ url: database.url, statementTimeoutMs: 60_000 });
      return { store, drop: () => database.drop() };
    },
  ],
];

/**
 * Databases of the tests over HTTP. `npm test` tries them on SQLite: what the databases do differently is below HTTP, and the tests of store and
 * engine run on both. `npm run test:all` tries them on both too.
 */
export const HTTP_STORES = inLongForm(BOTH_STORES);
