import { type Kysely, sql } from "kysely";
import type { RunDeletion } from "../port/judgments.ts";
import { dialectOf } from "../schema/dialect.ts";
import { runTombstones } from "../schema/runs.ts";
import type { Tables } from "../schema/tables.ts";
import { refusalToDelete } from "../units/check-unit.ts";

/**
 * The expressions of one dialect for the run, its tenant, and the greatest character. Both databases delete a run by
 * otherwise equal statements.
 */
interface Words {
  readonly run: string;
  readonly tenant: string;
  readonly last: string;
}

/** Operations that name a run, an annotation or a queue; their recorded responses may quote deleted content. */
export const RUN_OPERATIONS = [
  "POST /v1/runs/",
  "POST /v1/host/assay/runs/",
  "POST /v1/host/assay/tapes/",
  "POST /v1/host/assay/evals/",
] as const;
export const ANNOTATION_OPERATIONS = ["POST /v1/host/assay/annotations/"] as const;
export const QUEUE_OPERATIONS = ["POST /v1/host/assay/queues/"] as const;

/** Removes everything about a run, in the order in which rows are locked everywhere; the run itself comes last. */
export function runDeletes(words: Words) {
  const { run, tenant } = words;
  const ofRun = `tenant = ${tenant} and run_id = ${run}`;
  const annotated = `tenant = ${tenant} and annotation_id in (select annotation_id from annotations where ${ofRun})`;
  return {
    deleteEffects: `delete from effects where run_id = ${run} and tenant = ${tenant}`,
    ...outcomeDeletes(words),
    deleteAnnotationChanges: `delete from annotation_changes where ${annotated}`,
    deleteAnnotationTexts: `delete from annotation_texts where ${annotated}`,
    deleteAnnotations: `delete from annotations where ${ofRun}`,
    deleteFeedback: `delete from run_feedback where ${ofRun}`,
    deleteLabels: `delete from run_labels where ${ofRun}`,
    deleteReviewsOfRun: `delete from queue_reviews where item_id in (select item_id from queue_items where ${ofRun})`,
    deleteItemsOfRun: `delete from queue_items where ${ofRun}`,
    deleteVotesOfRun: `delete from interrupt_votes
      where interrupt_id in (select interrupt_id from interrupts where run_id = ${run} and tenant = ${tenant})`,
    deleteInterrupts: `delete from interrupts where run_id = ${run} and tenant = ${tenant}`,
    deleteSidecar: `delete from tape_sidecars where ${ofRun}`,
    deleteTape: `delete from tapes where ${ofRun}`,
    deleteDocumentsOfRun: `delete from documents where run_id = ${run} and tenant = ${tenant}`,
    deleteArtifacts: `delete from artifacts where run_id = ${run} and tenant = ${tenant}`,
    // Events have no tenant column.
    deleteEvents: `delete from run_events
      where run_id = ${run} and exists (select 1 from runs where run_id = ${run} and tenant = ${tenant})`,
    deleteDeliveries: `delete from deliveries where run_id = ${run} and tenant = ${tenant}`,
    // The count goes with the last run of the family: a bound that a deletion resets would be none.
    deleteFamily: `delete from run_families where root_run_id in (
        select coalesce(root_run_id, run_id) from runs where run_id = ${run} and tenant = ${tenant})
      and not exists (select 1 from runs as other
        where other.root_run_id = run_families.root_run_id and other.run_id <> ${run})
      and not exists (select 1 from runs as root
        where root.run_id = run_families.root_run_id and root.run_id <> ${run})`,
    deleteRun: `delete from runs where run_id = ${run} and tenant = ${tenant}`,
  } as const;
}

/** By ranges of the primary key. After the id, an operation has a verb, a path, a workspace, or nothing. */
function outcomeDeletes({ run, tenant, last }: Words) {
  const names = (prefix: string) => `outcome.operation >= ${prefix} and outcome.operation < ${prefix} || ${last}
      and substr(outcome.operation, length(${prefix}) + 1, 1) in ('', ':', '/', ' ')`;
  const forget = (found: string) => `delete from idempotency where (tenant, operation, idem_key) in (
    select outcome.tenant, outcome.operation, outcome.idem_key from ${found})`;
  const ofRun = (path: string) =>
    forget(`idempotency as outcome where outcome.tenant = ${tenant} and ${names(`'${path}' || ${run}`)}`);
  const about = (table: string, prefix: string, more = "") =>
    forget(`${table} as named join idempotency as outcome on outcome.tenant = named.tenant and ${names(prefix)}
      where named.run_id = ${run} and named.tenant = ${tenant} ${more}`);
  return {
    // One statement for each: for a range or another SQLite would scan all rows of the tenant.
    deleteOutcomesOfRun: ofRun(RUN_OPERATIONS[0]),
    deleteOwnOutcomesOfRun: ofRun(RUN_OPERATIONS[1]),
    deleteOutcomesOfTape: ofRun(RUN_OPERATIONS[2]),
    deleteOutcomesOfEval: ofRun(RUN_OPERATIONS[3]),
    deleteOutcomesOfAnnotations: about("annotations", `'${ANNOTATION_OPERATIONS[0]}' || named.annotation_id`),
    // A request for the next item of a queue does not name the item; its recorded response does.
    // Each queue once: a run may have a thousand items in one.
    deleteOutcomesOfItems: about(
      `(select distinct tenant, run_id, queue_id from queue_items where run_id = ${run} and tenant = ${tenant})`,
      `'${QUEUE_OPERATIONS[0]}' || named.queue_id`,
      `and outcome.body like '%' || ${run} || '%'`,
    ),
  } as const;
}

/** Rows that are removed in one go. */
const ROWS_AT_ONCE = 500;
/** Characters of the words of judgments that are removed in one go: SQLite's index of words takes some microseconds for each. */
const CHARACTERS_AT_ONCE = { sqlite: 4_000, postgres: 400_000 } as const;
/** Bytes of bodies that are removed in one go: what is deleted is overwritten, which takes some milliseconds for each million. */
const BYTES_AT_ONCE = 8_000_000;

/** Greater than every character of an operation: nothing is encoded higher. */
const LAST = "\u{10ffff}";

interface Handles {
  readonly read: Kysely<Tables>;
  readonly write: Kysely<Tables>;
}

/**
 * Removes judgments, artifacts and documents of runs that are about to be deleted, in pieces: all other writes would wait for one long
 * transaction. The rest goes with the run. Nothing is removed where a run cannot be deleted. The tombstone comes first, so that the remaining
 * judgments decide nothing. After a process that ends in between, runs have fewer judgments and artifacts until the caller repeats the deletion.
 */
export async function forgetRuns(
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
      const ids = await someJudgments(read, tenant, deletion.runId);
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
async function someJudgments(db: Kysely<Tables>, tenant: string, runId: string): Promise<string[] | undefined> {
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
  const some = fitting(rows, ({ characters }) => characters ?? 0, CHARACTERS_AT_ONCE[dialectOf(db)]);
  return some?.map(({ annotation_id }) => annotation_id);
}

/** The first of the rows that can be removed in one go, at least one; undefined where all of them can. */
function fitting<R>(rows: readonly R[], sizeOf: (row: R) => number, most: number): R[] | undefined {
  const some: R[] = [];
  let left = most;
  for (const row of rows.slice(0, ROWS_AT_ONCE)) {
    left -= sizeOf(row);
    if (left < 0 && some.length > 0) return some;
    some.push(row);
  }
  return rows.length > ROWS_AT_ONCE ? some : undefined;
}

/** The judgments themselves come last: as long as they are there, the rest is found again. */
function deletesOf(tenant: string, ids: readonly string[]) {
  const [operation] = ANNOTATION_OPERATIONS;
  const these = sql.join(ids);
  const of = (table: string) =>
    sql`delete from ${sql.table(table)} where tenant = ${tenant} and annotation_id in (${these})`;
  const named = sql.join(ids.map((id) => sql`(${id})`));
  return [
    sql`delete from idempotency where (tenant, operation, idem_key) in (
      select outcome.tenant, outcome.operation, outcome.idem_key
      from (select column1 as id from (values ${named}) as listed) as named cross join idempotency as outcome
      where outcome.tenant = ${tenant} and outcome.operation >= ${operation} || named.id
        and outcome.operation < ${operation} || named.id || ${LAST})`,
    of("annotation_changes"),
    of("annotation_texts"),
    of("annotations"),
  ];
}

/** Where a run has bodies of any size and number, and the columns that identify a row of one run. */
const BODIES = [
  { table: "artifacts", key: sql.raw("artifact_id") },
  { table: "documents", key: sql.raw("kind, doc_key") },
] as const;

/** Removes bodies of a run that is about to go, some at a time, where they are many or large; the last of them go with the run. */
async function forgetBodies({ read, write }: Handles, tenant: string, runId: string): Promise<void> {
  for (const { table, key } of BODIES) {
    const ofRun = sql`${sql.table(table)} where tenant = ${tenant} and run_id = ${runId}`;
    for (;;) {
      const { rows } = await sql<{ readonly bytes: number }>`select octet_length(body) as bytes from ${ofRun}
        order by ${key} limit ${ROWS_AT_ONCE + 1}`.execute(read);
      const some = fitting(rows, ({ bytes }) => bytes, BYTES_AT_ONCE);
      if (some === undefined) break;
      const these = sql`select ${key} from ${ofRun} order by ${key} limit ${some.length}`;
      await sql`delete from ${ofRun} and (${key}) in (${these})`.execute(write);
    }
  }
}
