import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Kysely } from "kysely";
import { AppError } from "../protocol/errors.ts";
import type { Tables } from "../store/sql/tables.ts";
import type { Store } from "../store/store.ts";
import type { Config } from "./settings.ts";

/** Which database the settings mean. */
export type DatabaseConfig = Pick<Config, "data" | "databaseUrl">;

/** Adapters are loaded when they are used: one process needs one of them. */
export async function openStore(config: DatabaseConfig): Promise<Store> {
  if (config.databaseUrl !== undefined) {
    const { openPostgresStore } = await import("../store/postgres/postgres-store.ts");
    return openPostgresStore({ url: config.databaseUrl });
  }
  const { openSqliteStore } = await import("../store/sqlite/sqlite-store.ts");
  return openSqliteStore({ path: sqlitePath(config) });
}

export function sqlitePath({ data }: DatabaseConfig): string {
  return join(data, "assay.db");
}

/** For commands that expect something to be there: a mistyped folder must not become a new, empty database. */
export function requireExisting(config: DatabaseConfig): void {
  if (config.databaseUrl !== undefined || existsSync(sqlitePath(config))) return;
  throw new AppError("unusable_input", {
    problem: `there is no database in ${config.data}; name its folder with --data`,
  });
}

/** The address without its password. */
export function describeDatabase(config: DatabaseConfig): string {
  if (config.databaseUrl === undefined) return sqlitePath(config);
  const { protocol, host, pathname } = new URL(config.databaseUrl);
  return `${protocol}//${host}${pathname}`;
}

type Use<T> = (db: Kysely<Tables>) => Promise<T>;

/** Migrations and copies take as long as they take. */
const NO_LIMIT_MS = 0;
const CONNECT_MS = 5_000;

/** The database as it is at one moment, while others go on writing. */
export async function withSnapshot<T>(config: DatabaseConfig, use: Use<T>): Promise<T> {
  if (config.databaseUrl !== undefined) {
    return withPostgres(config.databaseUrl, (db) =>
      db.transaction().setIsolationLevel("repeatable read").setAccessMode("read only").execute(use),
    );
  }
  requireExisting(config);
  const { openReadSnapshot } = await import("../store/sqlite/read-snapshot.ts");
  const { kyselyOver } = await import("../store/sqlite/kysely-dialect.ts");
  const snapshot = await openReadSnapshot(sqlitePath(config));
  try {
    return await use(kyselyOver(snapshot.db));
  } finally {
    snapshot.close();
  }
}

/** The database for this process alone where it is a file; throws `database_in_use` when another has it. */
export async function withDatabase<T>(config: DatabaseConfig, use: Use<T>): Promise<T> {
  if (config.databaseUrl !== undefined) return withPostgres(config.databaseUrl, use);
  const { withOwnedFile } = await import("./own-sqlite-file.ts");
  return withOwnedFile(sqlitePath(config), use);
}

async function withPostgres<T>(url: string, use: Use<T>): Promise<T> {
  const { kyselyOn, openPool } = await import("../store/postgres/connection.ts");
  const { explain } = await import("../store/postgres/database-trouble.ts");
  // Two connections: Kysely's migrations keep their lock on one and work on the other.
  const pool = openPool({ url, statementTimeoutMs: NO_LIMIT_MS, connectTimeoutMs: CONNECT_MS }, 2);
  try {
    return await use(kyselyOn(pool));
  } catch (error) {
    throw explain(error);
  } finally {
    await pool.end();
  }
}
