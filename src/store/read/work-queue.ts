import { type Kysely, sql } from "kysely";
import type { DueBeyond, DueTenants, RunsAhead } from "../port/work-queue.ts";
import { dialectOf } from "../schema/dialect.ts";
import type { Tables } from "../schema/tables.ts";

/** Read once when a host starts: the runs in the queue are few compared with those that have ended. */
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

/** Steps from tenant to tenant through the index of due runs, however many runs each of them has there. */
export async function dueTenants(
  db: Kysely<Tables>,
  { nowMs, engineVersion, after, limit }: DueTenants,
): Promise<string[]> {
  const { rows } = await sql<{ tenant: string }>`
    with recursive seen(tenant) as (
      select min(tenant) from runs where wake_at is not null and tenant > ${after}
      union all
      select (select min(runs.tenant) from runs where runs.wake_at is not null and runs.tenant > seen.tenant)
      from seen where seen.tenant is not null
    )
    select tenant from seen where tenant is not null and exists (
      select 1 from runs where runs.tenant = seen.tenant and wake_at <= ${nowMs}
      and (lease_until is null or lease_until <= ${nowMs}) and engine_version <= ${engineVersion})
    limit ${limit}`.execute(db);
  return rows.map((row) => row.tenant);
}

export async function nextWakeAtMs(
  db: Kysely<Tables>,
  nowMs: number,
  engineVersion: number,
): Promise<number | undefined> {
  const row = await db
    .selectFrom("runs")
    .select("wake_at")
    .where("wake_at", "is not", null)
    .where("engine_version", "<=", engineVersion)
    .where((run) => run.or([run("lease_until", "is", null), run("lease_until", "<=", nowMs)]))
    .orderBy("wake_at")
    .limit(1)
    .executeTakeFirst();
  return row?.wake_at ?? undefined;
}

export async function dueBeyond(
  db: Kysely<Tables>,
  { nowMs, engineVersion, aboveBytes, limit }: DueBeyond,
): Promise<{ runId: string; tenant: string }[]> {
  const rows = await db
    .selectFrom("runs")
    .select(["run_id", "tenant"])
    .where("wake_at", "is not", null)
    .where("wake_at", "<=", nowMs)
    .where("engine_version", "<=", engineVersion)
    .where((run) => run.or([run("lease_until", "is", null), run("lease_until", "<=", nowMs)]))
    .where(sql<boolean>`octet_length(state) > ${aboveBytes}`)
    .orderBy("wake_at")
    .limit(limit)
    .execute();
  return rows.map(({ run_id, tenant }) => ({ runId: run_id, tenant }));
}
