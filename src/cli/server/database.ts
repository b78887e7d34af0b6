import { accessSync, constants, existsSync } from "node:fs";
import { join } from "node:path";
import type { Kysely } from "kysely";
import { AppError } from "../../protocol/errors.ts";
import type { Store } from "../../store/port/store.ts";
import type { Tables } from "../../store/schema/tables.ts";
import { databasePath } from "../../store/sqlite/database-path.ts";
import type { Config } from "../settings/settings.ts";

/** Which database the settings mean. */
export type DatabaseConfig = Pick<Config, "data" | "databaseUrl">;

/** Adapters are loaded when they are used: one process needs one of them. */
export async function openStore(config: DatabaseConfig): Promise<Store> {
  if (config.databaseUrl !== undefined) {
    const { openPostgresStore } = await import("../../store/postgres/postgres-store.ts");
    return openPostgresStore({ url: config.databaseUrl }).catch((error) => {
      throw refusalOrError(error);
    });
  }
  prepareFolder(config);
  const { openSqliteStore } = await import("../../store/sqlite/sqlite-store.ts");
  return openSqliteStore({ path: sqlitePath(config) });
}

export function sqlitePath({ data }: DatabaseConfig): string {
  return join(data, "assay.db");
}

/**
 * The database of evaluations that run on this machine, apart from that of a server on the same folder: a database file has one owner,
 * and both have to work at the same time.
 */
export function evalsPath({ data }: Pick<DatabaseConfig, "data">): string {
  return join(data, "evals.db");
}

/** Before anything is opened: SQLite would only say that it cannot open a file, and not which or why. */
export function prepareFolder(config: DatabaseConfig, file = sqlitePath(config)): void {
  try {
    databasePath(file);
    accessSync(config.data, constants.W_OK | constants.X_OK);
    if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
  } catch (error) {
    const problem = `the database cannot be kept in ${config.data}: ${(error as Error).message}; choose a folder with --data`;
    throw new AppError("unusable_input", { problem }, { cause: error });
  }
}

/** For commands that expect something to be there: a mistyped folder must not become a new, empty database. */
export function requireExisting(config: DatabaseConfig): void {
  if (config.databaseUrl !== undefined || existsSync(sqlitePath(config))) return;
  throw new AppError("unusable_input", {
    problem: `there is no database in ${config.data}; name its folder with --data`,
  });
}

/** For commands that may create the database, but not where: a mistyped folder must not come to exist. */
export function requireFolder(config: DatabaseConfig): void {
  if (config.databaseUrl !== undefined || existsSync(config.data)) return;
  throw new AppError("unusable_input", {
    problem: `there is no folder ${config.data}, and none was made; name the folder of the database with --data`,
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
  const { openReadSnapshot } = await import("../../store/sqlite/read-snapshot.ts");
  const { kyselyOver } = await import("../../store/sqlite/kysely-dialect.ts");
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
  prepareFolder(config);
  const { withOwnedFile } = await import("../files/own-sqlite-file.ts");
  return withOwnedFile(sqlitePath(config), use);
}

async function withPostgres<T>(url: string, use: Use<T>): Promise<T> {
  const { kyselyOn, openPool } = await import("../../store/postgres/connection.ts");
  const { explainOpening } = await import("../../store/postgres/database-error.ts");
  // Two connections: Kysely's migrations keep their lock on one and work on the other.
  const pool = openPool({ url, statementTimeoutMs: NO_LIMIT_MS, connectTimeoutMs: CONNECT_MS }, 2);
  try {
    return await use(kyselyOn(pool));
  } catch (error) {
    throw refusalOrError(explainOpening(error));
  } finally {
    await pool.end();
  }
}

/** SQLSTATEs: no such password, no such user, no such database. */
const REFUSALS = new Set(["28P01", "28000", "3D000"]);

/** A server that is there and says no: asking again does not help, another address does. */
function refusalOrError(error: unknown): unknown {
  if (!(error instanceof AppError)) return error;
  const { code, message } = (error.cause ?? {}) as { code?: string; message?: string };
  if (!REFUSALS.has(code ?? "")) return error;
  return new AppError("unusable_input", { problem: `${message}; look at --database-url` }, { cause: error });
}
