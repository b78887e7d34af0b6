import { closeSync, existsSync, mkdirSync, openSync, realpathSync } from "node:fs";
import { isBuiltin } from "node:module";
import { basename, dirname, join } from "node:path";
import { explain } from "./database-error.ts";

/** The part of the `node:sqlite` API that is used here; it has no types for Node 20. */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement;
  exec(sql: string): void;
  close(): void;
  /** Absent in tests that bring a database of their own. */
  readonly isTransaction?: boolean;
}

export interface SqliteStatement {
  run(...parameters: SqliteValue[]): { changes: number | bigint };
  get(...parameters: SqliteValue[]): unknown;
  all(...parameters: SqliteValue[]): unknown[];
  columns(): unknown[];
}

export type SqliteValue = string | number | null | Uint8Array;

type DatabaseClass = new (path: string, options: { readOnly: boolean }) => SqliteDatabase;

/** A database that lives in this process alone and ends with it. */
export const IN_MEMORY = ":memory:";

/** How long a connection waits for another process that holds a lock for a moment, such as one that is opening the file. */
const BUSY_TIMEOUT_MS = 10_000;

/**
 * The connection that writes. A commit returns after the log is on disk (`synchronous=FULL`): speed comes from
 * committing many units together, not from a weaker promise.
 *
 * Callers keep the handle in a field for as long as statements of it are in use:
 * @photostructure/sqlite closes a database that only its statements refer to.
 */
export async function openForWriting(path: string): Promise<SqliteDatabase> {
  const db = await open(path, false);
  db.exec(`
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma foreign_keys = on;
    -- Without this, "insert or replace" would delete rows behind the back of the triggers that refuse deletes.
    pragma recursive_triggers = on;
    -- In pages. A checkpoint costs two more fsyncs, and a page that changed ten times since the last is copied once.
    pragma wal_autocheckpoint = 8000;
    pragma journal_size_limit = 67108864;
    pragma cache_size = -32768;
    pragma temp_store = memory;
    -- Deleted content is overwritten: the file keeps nothing of a deleted run.
    pragma secure_delete = on;
  `);
  return db;
}

/** A connection that sees every commit and cannot write. Works while another connection writes, also in another process. */
export async function openForReading(path: string): Promise<SqliteDatabase> {
  const db = await open(path, true);
  // No memory map: the file grows with every checkpoint and is mapped anew, which made reads under load twice as slow.
  db.exec("pragma cache_size = -8192; pragma temp_store = memory");
  return db;
}

/** A connection for nothing but holding a lock. Waits briefly, for a previous owner that is just ending. */
export async function openForLocking(path: string): Promise<SqliteDatabase> {
  const db = await open(path, false);
  db.exec("pragma busy_timeout = 500");
  return db;
}

async function open(path: string, readOnly: boolean): Promise<SqliteDatabase> {
  const Database = await databaseClass();
  const db = new Database(path, { readOnly });
  db.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
  return db;
}

/** Node's own SQLite where it is complete; the package with the same API on Node 20 and early 22, where it is not. */
async function databaseClass(): Promise<DatabaseClass> {
  if (isBuiltin("node:sqlite")) {
    const builtin = await withoutExperimentalWarning(() => import("node:sqlite" as string));
    if ("columns" in builtin.StatementSync.prototype) return builtin.DatabaseSync;
  }
  const { DatabaseSync } = await import("@photostructure/sqlite");
  return DatabaseSync as unknown as DatabaseClass;
}

/** Node 22 warns when SQLite is imported. Only that warning is kept quiet, and only during the import. */
async function withoutExperimentalWarning<T>(load: () => Promise<T>): Promise<T> {
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    if (rest[0] === "ExperimentalWarning" && String(warning).includes("SQLite")) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  }) as typeof process.emitWarning;
  try {
    return await load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** One name per file, so that a link to it meets the same lock. Its folder is made when it is missing. */
export function databasePath(given: string): string {
  if (existsSync(given)) return realpathSync(given);
  const folder = dirname(given);
  makeFolder(folder);
  return join(realpathSync(folder), basename(given));
}

/** The file holds secrets of the host. SQLite gives its companions the same permissions. */
export function makeDatabaseFile(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
}

/** Not with `recursive`, which never returns where the system says that an existing parent is not there (/proc). */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process was first.
    if (!existsSync(folder)) throw error;
  }
}

export interface ReadSnapshot {
  /** Read-only. Open as long as the snapshot. */
  readonly db: SqliteDatabase;
  close(): void;
}

/**
 * The database as it is at this moment, for as long as it takes to read it: later commits are not seen. Works in any
 * process while the owner writes, and blocks no writer; only the owner's log grows until the snapshot is closed.
 */
export async function openReadSnapshot(path: string): Promise<ReadSnapshot> {
  const db = await openForReading(path);
  try {
    // A transaction takes its snapshot with the first read, not with `begin`.
    db.exec("begin; select 1 from sqlite_master limit 1");
  } catch (error) {
    db.close();
    throw explain(error);
  }
  return { db, close: () => endSnapshot(db) };
}

/** A connection with a statement that was not collected yet stays open behind its close, and would hold its snapshot: checkpoints wait for it. */
function endSnapshot(db: ReadSnapshot["db"]): void {
  if (db.isTransaction === true) db.exec("rollback");
  db.close();
}
