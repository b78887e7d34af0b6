import { explain } from "./database-error.ts";
import { openForReading, type SqliteDatabase } from "./open-database.ts";

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
  return { db, close: () => db.close() };
}
