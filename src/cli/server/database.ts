import { accessSync, constants, existsSync } from "node:fs";
import { join } from "node:path";
import type { Kysely } from "kysely";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import type { Store } from "../../store/port/store.ts";
import type { Tables } from "../../store/schema/tables.ts";
import { databasePath, makeDatabaseFile } from "../../store/sqlite/open-database.ts";
import type { Call } from "../program/command.ts";
import type { Config } from "../settings/settings.ts";

export type DatabaseConfig = Pick<Config, "data" | "databaseUrl">;

/** Whether the flags of a call name a database to open, and not a server. */
export function opensDatabase(given: Call["given"]): boolean {
  const direct = given.has("data") || given.has("databaseUrl");
  if (!direct || !(given.has("url") || given.has("key"))) return direct;
  throw unusableInput("use either --url and --key, or --data or --database-url, not both");
}

/** Opens the store. Only the adapter of the database is loaded. */
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
 * The database of evaluations that run on this machine. It is separate from that of a server on the same folder, because a database file
 * has one owner and both may run at the same time.
 */
export function evalsPath({ data }: Pick<DatabaseConfig, "data">): string {
  return join(data, "evals.db");
}

/** Checks the folder before it is used: the error of SQLite names neither the file nor the reason. */
export function prepareFolder(config: DatabaseConfig, file = sqlitePath(config)): void {
  try {
    databasePath(file);
    accessSync(config.data, constants.W_OK | constants.X_OK);
    if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
  } catch (error) {
    const reason = (error as Error).message;
    throw unusableInput(`the database cannot be kept in ${config.data}: ${reason}; choose a folder with --data`, error);
  }
}

/** For commands that need a database with content: a mistyped folder must not become a new, empty database. */
export function requireExisting(config: DatabaseConfig): void {
  if (config.databaseUrl !== undefined || existsSync(sqlitePath(config))) return;
  throw unusableInput(`there is no database in ${config.data}; name its folder with --data`);
}

/** For commands that may create the database, but not its folder: a mistyped folder must not be created. */
export function requireFolder(config: DatabaseConfig): void {
  if (config.databaseUrl !== undefined || existsSync(config.data)) return;
  throw unusableInput(
    `there is no folder ${config.data}, and none was created; name the folder of the database with --data`,
  );
}

/** The path or address of the database, without a password. */
export function describeDatabase(config: DatabaseConfig): string {
  if (config.databaseUrl === undefined) return sqlitePath(config);
  const { protocol, host, pathname } = new URL(config.databaseUrl);
  return `${protocol}//${host}${pathname}`;
}

type Use<T> = (db: Kysely<Tables>) => Promise<T>;

/** Migrations and copies have no time limit. */
const NO_LIMIT_MS = 0;
const CONNECT_MS = 5_000;

/** The database at one moment, while other processes may write to it. */
export async function withSnapshot<T>(config: DatabaseConfig, use: Use<T>): Promise<T> {
  if (config.databaseUrl !== undefined) {
    return withPostgres(config.databaseUrl, (db) =>
      db.transaction().setIsolationLevel("repeatable read").setAccessMode("read only").execute(use),
    );
  }
  requireExisting(config);
  const { openReadSnapshot } = await import("../../store/sqlite/open-database.ts");
  const { kyselyOver } = await import("../../store/sqlite/kysely-dialect.ts");
  const snapshot = await openReadSnapshot(sqlitePath(config));
  try {
    return await use(kyselyOver(snapshot.db));
  } finally {
    snapshot.close();
  }
}

/** The database; a file is used by this process alone. Throws `database_in_use` when another process uses it. */
export async function withDatabase<T>(config: DatabaseConfig, use: Use<T>): Promise<T> {
  if (config.databaseUrl !== undefined) return withPostgres(config.databaseUrl, use);
  prepareFolder(config);
  return withOwnedFile(databasePath(sqlitePath(config)), use);
}

/** Opens a database file, and creates it when it is missing, under the lock of the store. */
async function withOwnedFile<T>(path: string, use: Use<T>): Promise<T> {
  const { kyselyOver } = await import("../../store/sqlite/kysely-dialect.ts");
  const { openForWriting } = await import("../../store/sqlite/open-database.ts");
  const { takeOwnership } = await import("../../store/sqlite/owner-lock.ts");
  const lock = await takeOwnership(path);
  try {
    makeDatabaseFile(path);
    const db = await openForWriting(path);
    try {
      return await use(kyselyOver(db));
    } finally {
      db.close();
    }
  } finally {
    lock.release();
  }
}

async function withPostgres<T>(url: string, use: Use<T>): Promise<T> {
  const { kyselyOn, openPool } = await import("../../store/postgres/connection.ts");
  const { explainOpening } = await import("../../store/postgres/database-error.ts");
  // Two connections: Kysely's migrations hold their lock on one and use the other.
  const pool = openPool({ url, statementTimeoutMs: NO_LIMIT_MS, connectTimeoutMs: CONNECT_MS }, 2);
  try {
    return await use(kyselyOn(pool));
  } catch (error) {
    throw refusalOrError(explainOpening(error));
  } finally {
    await pool.end();
  }
}

/** SQLSTATEs of a wrong password, user or database name. */
const REFUSALS = new Set(["28P01", "28000", "3D000"]);

/** Turns the refusal of a reachable server into `unusable_input`: another attempt does not help, another address does. */
function refusalOrError(error: unknown): unknown {
  if (!(error instanceof AppError)) return error;
  const { code, message } = (error.cause ?? {}) as { code?: string; message?: string };
  if (!REFUSALS.has(code ?? "")) return error;
  return unusableInput(`${message}; check --database-url`, error);
}
