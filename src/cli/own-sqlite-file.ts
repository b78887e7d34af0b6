import { closeSync, existsSync, mkdirSync, openSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Kysely } from "kysely";
import type { Tables } from "../store/sql/tables.ts";
import { kyselyOver } from "../store/sqlite/kysely-dialect.ts";
import { openForWriting } from "../store/sqlite/open-database.ts";
import { takeOwnership } from "../store/sqlite/owner-lock.ts";

/** Opens a database file, made when it is missing, under the same lock and by the same rules as the store does. */
export async function withOwnedFile<T>(given: string, use: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
  mkdirSync(dirname(given), { recursive: true, mode: 0o700 });
  const path = existsSync(given) ? realpathSync(given) : join(realpathSync(dirname(given)), basename(given));
  const lock = await takeOwnership(path);
  try {
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
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
