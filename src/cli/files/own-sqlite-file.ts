import type { Kysely } from "kysely";
import type { Tables } from "../../store/schema/tables.ts";
import { databasePath, makeDatabaseFile } from "../../store/sqlite/database-path.ts";
import { kyselyOver } from "../../store/sqlite/kysely-dialect.ts";
import { openForWriting } from "../../store/sqlite/open-database.ts";
import { takeOwnership } from "../../store/sqlite/owner-lock.ts";

/** Opens a database file, made when it is missing, under the same lock and by the same rules as the store does. */
export async function withOwnedFile<T>(given: string, use: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
  const path = databasePath(given);
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
