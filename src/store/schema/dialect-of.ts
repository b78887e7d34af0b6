import { type Kysely, PostgresAdapter } from "kysely";

export type DialectName = "sqlite" | "postgres";

/** Which database a handle or transaction speaks to, for the few statements that differ. */
export function dialectOf(db: Pick<Kysely<unknown>, "getExecutor">): DialectName {
  return db.getExecutor().adapter instanceof PostgresAdapter ? "postgres" : "sqlite";
}
