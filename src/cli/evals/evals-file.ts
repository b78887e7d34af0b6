import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import { EVAL_WORKFLOW_ID } from "../../protocol/evals/api.ts";
import { CALIBRATION_WORKFLOW_ID } from "../../protocol/evals/judge-certificate-api.ts";
import type { Store } from "../../store/port/store.ts";
import { databasePath } from "../../store/sqlite/database-path.ts";
import { openForReading, openForWriting } from "../../store/sqlite/open-database.ts";
import { takeOwnership } from "../../store/sqlite/owner-lock.ts";
import { openReadOnlyStore } from "../../store/sqlite/read-only-store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { type DatabaseConfig, evalsPath, openStore, prepareFolder, sqlitePath } from "../server/database.ts";

export interface EvalStore {
  readonly store: Store;
  /** This process owns the file, so no other process runs an evaluation in it. */
  readonly isOwned: boolean;
}

/** Opens the database of evaluations. A file that another evaluation owns is opened for reading with `reads`, else refused. */
export async function openEvalStore(config: DatabaseConfig, { reads = false } = {}): Promise<EvalStore> {
  if (config.databaseUrl !== undefined) return { store: await openStore(config), isOwned: false };
  const path = evalsPath(config);
  prepareFolder(config, path);
  try {
    await adoptEarlierFile(sqlitePath(config), path);
    return { store: await openSqliteStore({ path }), isOwned: true };
  } catch (error) {
    if (!(error instanceof AppError && error.code === "database_in_use")) throw error;
    if (reads && existsSync(path)) return { store: await openReadOnlyStore(path), isOwned: false };
    const { path: used, pid } = error.details;
    // A server on the same folder has another file, so the owner of this one is an evaluation.
    throw unusableInput(
      `${used} is in use by process ${pid}, another evaluation in this folder; wait for it, or use another folder with --data DIR`,
    );
  }
}

/**
 * Version 0.1 kept evaluations in the file that a server uses. A file that holds evaluations only, because no server ever started on it,
 * is renamed once. Any other stays where it is and is read from there.
 */
async function adoptEarlierFile(earlier: string, path: string): Promise<void> {
  const isWanted = async () => !existsSync(path) && existsSync(earlier) && (await holdsOnlyEvals(earlier));
  if (!(await isWanted())) return;
  const lock = await takeOwnership(databasePath(earlier));
  try {
    if (!(await isWanted())) return;
    // Its last user removes the log when it closes a file; a log that remains is in use.
    const db = await openForWriting(earlier);
    db.exec("pragma wal_checkpoint(truncate)");
    db.close();
    const log = `${earlier}-wal`;
    if (existsSync(log) && statSync(log).size > 0) return;
    for (const companion of [log, `${earlier}-shm`]) rmSync(companion, { force: true });
    renameSync(earlier, path);
  } finally {
    lock.release();
  }
}

/** The first start of a server makes a key, so a file without keys is not a server's. */
async function holdsOnlyEvals(path: string): Promise<boolean> {
  const db = await openForReading(path);
  try {
    const tables = db.prepare("select 1 from sqlite_master where name in ('runs', 'api_keys')").all();
    if (tables.length < 2 || db.prepare("select 1 from api_keys limit 1").get() !== undefined) return false;
    const evals = db.prepare("select 1 from runs where workflow_id in (?, ?) limit 1");
    return evals.get(EVAL_WORKFLOW_ID, CALIBRATION_WORKFLOW_ID) !== undefined;
  } finally {
    db.close();
  }
}
