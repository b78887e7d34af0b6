import { type Kysely, sql } from "kysely";
import type { RunsAhead } from "../work-queue.ts";
import type { Tables } from "./tables.ts";

/** Read once when a host starts: the runs in the queue are few beside those that have ended. */
export async function newestQueuedMs(db: Kysely<Tables>): Promise<number | undefined> {
  const row = await db
    .selectFrom("runs")
    .select(sql<number | string | null>`max(updated_at)`.as("newest"))
    .where("wake_at", "is not", null)
    .executeTakeFirst();
  return row?.newest === null || row?.newest === undefined ? undefined : Number(row.newest);
}

export async function runsAhead(
  db: Kysely<Tables>,
  { ofMs, after, limit }: RunsAhead,
): Promise<{ runId: string; tenant: string }[]> {
  const rows = await db
    .selectFrom("runs")
    .select(["run_id", "tenant"])
    .where("wake_at", "is not", null)
    .where("updated_at", ">", ofMs)
    .where("run_id", ">", after)
    .orderBy("run_id")
    .limit(limit)
    .execute();
  return rows.map(({ run_id, tenant }) => ({ runId: run_id, tenant }));
}
