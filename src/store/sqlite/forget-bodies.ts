import type { Kysely } from "kysely";
import { sql } from "kysely";
import type { Tables } from "../schema/tables.ts";

/** Bytes that are removed in one go: what is deleted is overwritten, which takes some milliseconds for each million. */
const BYTES_AT_ONCE = 8_000_000;
const ROWS_AT_ONCE = 500;

interface Handles {
  readonly read: Kysely<Tables>;
  readonly write: Kysely<Tables>;
}

/** Removes artifacts of a run that is about to go, some at a time, where they are large; the last of them go with the run. */
export async function forgetBodies({ read, write }: Handles, tenant: string, runId: string): Promise<void> {
  for (;;) {
    const ids = await someOfMany(read, tenant, runId);
    if (ids === undefined) return;
    await write
      .deleteFrom("artifacts")
      .where("tenant", "=", tenant)
      .where("run_id", "=", runId)
      .where("artifact_id", "in", ids)
      .execute();
  }
}

/** Artifacts to be removed in one go, at least one; undefined where all that there are can go with the run. */
async function someOfMany(db: Kysely<Tables>, tenant: string, runId: string): Promise<string[] | undefined> {
  const rows = await db
    .selectFrom("artifacts")
    .select(["artifact_id", sql<number>`length(body)`.as("bytes")])
    .where("tenant", "=", tenant)
    .where("run_id", "=", runId)
    .limit(ROWS_AT_ONCE + 1)
    .execute();
  const ids: string[] = [];
  let left = BYTES_AT_ONCE;
  for (const { artifact_id, bytes } of rows.slice(0, ROWS_AT_ONCE)) {
    left -= bytes;
    if (left < 0 && ids.length > 0) return ids;
    ids.push(artifact_id);
  }
  return rows.length > ROWS_AT_ONCE ? ids : undefined;
}
