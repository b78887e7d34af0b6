import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../protocol/errors.ts";
import { EVAL_WORKFLOW_ID } from "../../protocol/evals/api.ts";
import { CALIBRATION_WORKFLOW_ID } from "../../protocol/evals/judge-certificate-api.ts";
import type { Store } from "../../store/port/store.ts";
import { databasePath } from "../../store/sqlite/database-path.ts";
import { openForReading, openForWriting } from "../../store/sqlite/open-database.ts";
import { takeOwnership } from "../../store/sqlite/owner-lock.ts";
import { openReadOnlyStore } from "../../store/sqlite/read-only-store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { type DatabaseConfig, openStore, prepareFolder, sqlitePath } from "../server/database.ts";

/**
 * The database of evaluations that are carried out here, apart from that of a server on the same folder: a database file has one
 * owner, and both have to work at the same time.
 */
export function evalsPath({ data }: Pick<DatabaseConfig, "data">): string {
  return join(data, "evals.db");
}

export interface EvalStore {
  readonly store: Store;
  /** This process has the file for itself, so that no evaluation in it is under way elsewhere. */
  readonly isOwned: boolean;
}

/** With `reads`, a file that an evaluation is writing to is opened for reading; without, such a file is refused. */
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
    throw usedByEvaluation(error);
  }
}

/** A server on the same folder has another file, so the owner of this one is an evaluation. */
function usedByEvaluation({ details }: AppError): AppError {
  const problem = `${details["path"]} is in use by process ${details["pid"]}, another evaluation in this folder; wait for it, or use another folder with --data DIR`;
  return new AppError("unusable_input", { problem });
}

/** For commands that expect evaluations to be there: a mistyped folder must not become a new, empty database. */
export function requireEvals(config: DatabaseConfig): void {
  if (config.databaseUrl !== undefined || existsSync(evalsPath(config)) || existsSync(sqlitePath(config))) return;
  const problem = `there is no database in ${config.data}; start an evaluation with assay eval run, or name another folder with --data`;
  throw new AppError("unusable_input", { problem });
}

/**
 * Version 0.1 kept evaluations in the file that a server uses. A file on which no server ever started, so that it holds nothing but
 * evaluations, is renamed once. Any other stays where it is and is read from there.
 */
async function adoptEarlierFile(earlier: string, path: string): Promise<void> {
  const isWanted = async () => !existsSync(path) && existsSync(earlier) && (await holdsOnlyEvals(earlier));
  if (!(await isWanted())) return;
  const lock = await takeOwnership(databasePath(earlier));
  try {
    if (!(await isWanted())) return;
    // Closed by its last user, a file has no log beside it.
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

/** The first start of a server makes a key, so a file without one is not a server's. */
async function holdsOnlyEvals(path: string): Promise<boolean> {
  const db = await openForReading(path);
  try {
    const tables = db.prepare("select 1 from sqlite_master where name in ('runs', 'api_keys')").all();
    if (tables.length < 2 || db.prepare("select 1 from api_keys limit 1").get() !== undefined) return false;
    const ours = db.prepare("select 1 from runs where workflow_id in (?, ?) limit 1");
    return ours.get(EVAL_WORKFLOW_ID, CALIBRATION_WORKFLOW_ID) !== undefined;
  } finally {
    db.close();
  }
}
