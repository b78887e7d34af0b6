import { afterEach, beforeEach } from "vitest";
import { sharedStore } from "../store/read/shared-store.ts";
import { migrate } from "../store/schema/migrations.ts";
import { kyselyOver } from "../store/sqlite/kysely-dialect.ts";
import { IN_MEMORY, openForWriting, type SqliteDatabase } from "../store/sqlite/open-database.ts";

export type SharedReads = ReturnType<typeof sharedStore>;

export interface QueryPlans {
  /** How SQLite goes about everything that a call asks of it. */
  planOf(call: (store: SharedReads) => Promise<unknown>): Promise<string>;
  /** The same for a statement. */
  planOfText(sql: string, ...values: readonly string[]): string;
}

/** Plans on an empty database of this version, a new one for every test of the file. */
export function queryPlans(): QueryPlans {
  let db: SqliteDatabase;
  beforeEach(async () => {
    db = await openForWriting(IN_MEMORY);
    await migrate(kyselyOver(db));
  });
  afterEach(() => db.close());

  const planOfText = (sql: string, ...values: readonly string[]): string => {
    const steps = db.prepare(`explain query plan ${sql}`).all(...values) as { detail: string }[];
    return steps.map(({ detail }) => detail).join("\n");
  };
  return {
    planOfText,
    planOf: async (call) => {
      const plans: string[] = [];
      const prepare = (sql: string) => {
        plans.push(planOfText(sql));
        return db.prepare(sql);
      };
      const watched = kyselyOver({ prepare, exec: (sql) => db.exec(sql), close: () => {} });
      await call(
        sharedStore(
          () => watched,
          () => watched,
        ),
      );
      return plans.join("\n");
    },
  };
}
