import type { SqliteDatabase, SqliteStatement } from "./open-database.ts";

export interface CachedStatement {
  readonly statement: SqliteStatement;
  readonly returnsRows: boolean;
}

/** Our statements are few, but those with lists of parameters must not pile up. */
const STATEMENTS_MAX = 200;

/** Preparing costs more than running. The caller keeps `db` for as long as it uses the statements. */
export function cacheStatements(db: SqliteDatabase): (sql: string) => CachedStatement {
  const cache = new Map<string, CachedStatement>();
  return (sql) => {
    const known = cache.get(sql);
    if (known !== undefined) return known;
    const statement = db.prepare(sql);
    const cached = { statement, returnsRows: statement.columns().length > 0 };
    if (cache.size >= STATEMENTS_MAX) cache.clear();
    cache.set(sql, cached);
    return cached;
  };
}
