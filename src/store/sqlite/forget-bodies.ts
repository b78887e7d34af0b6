import { type Kysely, sql } from "kysely";
import type { Tables } from "../schema/tables.ts";

/** Bytes that are removed in one go: what is deleted is overwritten, which takes some milliseconds for each million. */
const BYTES_AT_ONCE = 8_000_000;
const ROWS_AT_ONCE = 500;

/** Where a run has bodies of any size and number. */
const TABLES = ["artifacts", "documents"] as const;

interface Handles {
  readonly read: Kysely<Tables>;
  readonly write: Kysely<Tables>;
}

/** Removes bodies of a run that is about to go, some at a time, where they are many or large; the last of them go with the run. */
export async function forgetBodies({ read, write }: Handles, tenant: string, runId: string): Promise<void> {
  for (const table of TABLES) {
    const ofRun = sql`${sql.table(table)} where tenant = ${tenant} and run_id = ${runId}`;
    for (;;) {
      const { rows } = await sql<Row>`select rowid as id, length(body) as bytes from ${ofRun}
        limit ${ROWS_AT_ONCE + 1}`.execute(read);
      const ids = someOfMany(rows);
      if (ids === undefined) break;
      await sql`delete from ${ofRun} and rowid in (${sql.join(ids)})`.execute(write);
    }
  }
}

interface Row {
  readonly id: number;
  readonly bytes: number;
}

/** Rows to be removed in one go, at least one; undefined where all that there are can go with the run. */
function someOfMany(rows: readonly Row[]): number[] | undefined {
  const ids: number[] = [];
  let left = BYTES_AT_ONCE;
  for (const { id, bytes } of rows.slice(0, ROWS_AT_ONCE)) {
    left -= bytes;
    if (left < 0 && ids.length > 0) return ids;
    ids.push(id);
  }
  return rows.length > ROWS_AT_ONCE ? ids : undefined;
}
