import { type Kysely, sql } from "kysely";
import type { RunsAhead } from "../port/work-queue.ts";
import { dialectOf } from "../schema/dialect-of.ts";
import type { Tables } from "../schema/tables.ts";

/** Read once when a host starts: the runs in the queue are few beside those that have ended. */
export async function newestQueuedMs(db: Kysely<Tables>): Promise<number | undefined> {
  const row = await db
    .selectFrom("runs")
    .select(sql<number | string | null>`max(updated_at)`.as("newest"))
    .where("wake_at", "is not", null)
    .executeTakeFirst();
  return row?.newest === null || row?.newest === undefined ? undefined : Number(row.newest);
}

/** The clock of the database server is a second witness: where it agrees with the runs, it is the clock of the host that is behind. */
const AHEAD_OF_SERVER = sql<boolean>`updated_at > extract(epoch from clock_timestamp()) * 1000`;
const ALWAYS = sql<boolean>`1 = 1`;

export async function runsAhead(
  db: Kysely<Tables>,
  { ofMs, after, limit }: RunsAhead,
): Promise<{ runId: string; tenant: string }[]> {
  const rows = await db
    .selectFrom("runs")
    .select(["run_id", "tenant"])
    .where("wake_at", "is not", null)
    .where("updated_at", ">", ofMs)
    .where(dialectOf(db) === "postgres" ? AHEAD_OF_SERVER : ALWAYS)
    .where("run_id", ">", after)
    .orderBy("run_id")
    .limit(limit)
    .execute();
  return rows.map(({ run_id, tenant }) => ({ runId: run_id, tenant }));
}
