import { type Kysely, sql } from "kysely";
import type { RunDeletion } from "../port/judgments.ts";
import { ANNOTATION_OPERATIONS } from "../read/delete-run.ts";
import { runTombstones } from "../schema/runs.ts";
import type { Tables } from "../schema/tables.ts";
import { refusalToDelete } from "../units/check-unit.ts";
import { forgetBodies } from "./forget-bodies.ts";

/** Judgments that are removed in one go, and characters of their words, of which each costs some microseconds. */
const ROWS_AT_ONCE = 500;
const CHARACTERS_AT_ONCE = 4_000;

/** Greater than every character of an operation: nothing is encoded higher. */
const LAST = "\u{10ffff}";

interface Handles {
  readonly read: Kysely<Tables>;
  readonly write: Kysely<Tables>;
}

/**
 * Removes judgments and large artifacts of runs that are about to be deleted, in pieces: the index of words overwrites removed content, and
 * all other writes would wait for one long transaction. The rest goes with the run. Nothing is removed where a run cannot be deleted. The
 * tombstone comes first, so that the remaining judgments decide nothing. After a process that ends in between, runs have fewer judgments
 * and artifacts until the caller repeats the deletion.
 */
export async function forgetJudgments(
  { read, write }: Handles,
  tenant: string,
  deletions: readonly RunDeletion[],
): Promise<void> {
  for (const deletion of deletions) {
    const row = await read
      .selectFrom("runs")
      .select(["tenant", "version", "status", "lease_owner", "lease_until"])
      .where("run_id", "=", deletion.runId)
      .executeTakeFirst();
    if (refusalToDelete(tenant, deletion, row) !== undefined) return;
  }
  for (const deletion of deletions) {
    for (let isFirst = true; ; isFirst = false) {
      const ids = await someOfMany(read, tenant, deletion.runId);
      if (ids === undefined) break;
      if (isFirst) await bury(write, deletion);
      for (const statement of deletesOf(tenant, ids)) await statement.execute(write);
    }
    await forgetBodies({ read, write }, tenant, deletion.runId);
  }
}

async function bury(db: Kysely<Tables>, deletion: RunDeletion): Promise<void> {
  await db
    .insertInto("run_tombstones")
    .values(runTombstones.toRow(deletion))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Judgments to be removed in one go, at least one; undefined where all that there are can go with the run. */
async function someOfMany(db: Kysely<Tables>, tenant: string, runId: string): Promise<string[] | undefined> {
  const rows = await db
    .selectFrom("annotations as one")
    .leftJoin("annotation_texts as text", (join) =>
      join.onRef("text.tenant", "=", "one.tenant").onRef("text.annotation_id", "=", "one.annotation_id"),
    )
    .select(["one.annotation_id", sql<number | null>`length(text.words)`.as("characters")])
    .where("one.tenant", "=", tenant)
    .where("one.run_id", "=", runId)
    .orderBy("one.created_at")
    .orderBy("one.annotation_id")
    .limit(ROWS_AT_ONCE + 1)
    .execute();
  const ids: string[] = [];
  let left = CHARACTERS_AT_ONCE;
  for (const { annotation_id, characters } of rows.slice(0, ROWS_AT_ONCE)) {
    left -= characters ?? 0;
    if (left < 0 && ids.length > 0) return ids;
    ids.push(annotation_id);
  }
  return rows.length > ROWS_AT_ONCE ? ids : undefined;
}

/** The judgments themselves come last: as long as they are there, the rest is found again. */
function deletesOf(tenant: string, ids: readonly string[]) {
  const these = sql`select value from json_each(${JSON.stringify(ids)})`;
  const [operation] = ANNOTATION_OPERATIONS;
  const of = (table: string) =>
    sql`delete from ${sql.table(table)} where tenant = ${tenant} and annotation_id in (${these})`;
  return [
    sql`delete from idempotency where (tenant, operation, idem_key) in (
      select outcome.tenant, outcome.operation, outcome.idem_key from (${these}) as id cross join idempotency as outcome
      where outcome.tenant = ${tenant} and outcome.operation >= ${operation} || id.value
        and outcome.operation < ${operation} || id.value || ${LAST})`,
    of("annotation_changes"),
    of("annotation_texts"),
    of("annotations"),
  ];
}
