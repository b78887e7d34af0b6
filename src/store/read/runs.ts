import { type Kysely, sql } from "kysely";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { RunStatus } from "../../protocol/runs/run-status.ts";
import type { CountedRuns, DescendantQuery, RunOutline, RunQuery, RunRow } from "../port/store.ts";
import { holdsAgent } from "../rows/annotation-rows.ts";
import { toRunRow } from "../rows/rows.ts";
import { dialectOf } from "../schema/dialect.ts";
import type { Tables } from "../schema/tables.ts";
import { inBatches, visibleTo } from "./conditions.ts";
import { firstRunIdAt, runsOrHeads, stateUpTo } from "./run-heads.ts";

export async function logBytes(db: Kysely<Tables>, runId: string, toSequence: number): Promise<number> {
  const row = await db
    .selectFrom("run_events")
    .select(sql<number | string | null>`sum(octet_length(body) + coalesce(octet_length(sealed), 0))`.as("bytes"))
    .where("run_id", "=", runId)
    .where("sequence", "<", toSequence)
    .executeTakeFirst();
  return Number(row?.bytes ?? 0);
}

/** `heads` is the handle that heads are read with. */
export async function listRuns(
  db: Kysely<Tables>,
  heads: Kysely<Tables>,
  visible: Visibility,
  query: RunQuery,
): Promise<Run[]> {
  const state = stateUpTo(query.statesUpTo);
  const rows = await runsFound(db, visible, query).select(["run_id", state]).execute();
  return runsOrHeads(heads, visible.tenant, rows);
}

export async function runOutlines(
  db: Kysely<Tables>,
  tenant: string,
  runIds: readonly string[],
): Promise<RunOutline[]> {
  const rows = await inBatches(runIds, (ids) =>
    db
      .selectFrom("runs")
      .select(["run_id", "status", sql<number>`octet_length(state)`.as("bytes")])
      .where("run_id", "in", ids)
      .where("tenant", "=", tenant)
      .execute(),
  );
  return rows.map(({ run_id, status, bytes }) => ({ runId: run_id, status: status as RunStatus, stateBytes: bytes }));
}

export async function stateBytes(db: Kysely<Tables>, visible: Visibility, query: RunQuery): Promise<number[]> {
  const bytes = sql<number>`octet_length(state)`.as("bytes");
  return (await runsFound(db, visible, query).select(bytes).execute()).map((row) => row.bytes);
}

function runsFound(db: Kysely<Tables>, visible: Visibility, query: RunQuery) {
  const { agentId, tag, limit } = query;
  return runsInOrder(db, visible, query)
    .$if(agentId !== undefined, (runs) => runs.where(holdsAgent(sql`agent_id`, agentId ?? "")))
    .$if(tag !== undefined, (runs) => runs.where(hasTag(db, tag ?? "")))
    .limit(limit);
}

export async function runIdBeyond(
  db: Kysely<Tables>,
  visible: Visibility,
  query: Omit<RunQuery, "agentId" | "tag">,
): Promise<string | undefined> {
  const row = await runsInOrder(db, visible, query).select("run_id").limit(1).offset(query.limit).executeTakeFirst();
  return row?.run_id;
}

/** By the filters that indexes serve, newest first. */
function runsInOrder(db: Kysely<Tables>, visible: Visibility, query: RunQuery) {
  const { before, notBefore, workflowId, status, fromMs, toMs } = query;
  return db
    .selectFrom("runs")
    .where(visibleTo(visible))
    .$if(before !== undefined, (runs) => runs.where("run_id", "<", before ?? ""))
    .$if(toMs !== undefined, (runs) => runs.where("run_id", "<", firstRunIdAt(toMs ?? 0)))
    .$if(notBefore !== undefined, (runs) => runs.where("run_id", ">=", notBefore ?? ""))
    .$if(fromMs !== undefined, (runs) => runs.where("run_id", ">=", firstRunIdAt(fromMs ?? 0)))
    .$if(workflowId !== undefined, (runs) => runs.where("workflow_id", "=", workflowId ?? ""))
    .$if(status !== undefined, (runs) => runs.where("status", "=", status ?? "pending"))
    .orderBy("run_id", "desc");
}

/** Tags are only in the state. Most states are passed over by the text of the tag, without being parsed. */
function hasTag(db: Kysely<Tables>, tag: string) {
  const text = JSON.stringify(tag);
  if (dialectOf(db) === "sqlite") {
    return sql<boolean>`(instr(state, ${text}) > 0
      and exists (select 1 from json_each(state, '$.tags') as tag where tag.value = ${tag}))`;
  }
  // Compared as JSON is written: PostgreSQL takes no text with a NUL out of JSON.
  return sql<boolean>`(strpos(state, ${text}) > 0
    and exists (select 1 from json_array_elements(state::json -> 'tags') as tag where tag.value::text = ${text}))`;
}

export async function allRunIds(db: Kysely<Tables>, after: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom("runs")
    .select("run_id")
    .where("run_id", ">", after)
    .orderBy("run_id")
    .limit(limit)
    .execute();
  return rows.map((row) => row.run_id);
}

export async function tenantOf(db: Kysely<Tables>, runId: string): Promise<string | undefined> {
  const row = await db.selectFrom("runs").select("tenant").where("run_id", "=", runId).executeTakeFirst();
  return row?.tenant;
}

export async function runRow(db: Kysely<Tables>, runId: string): Promise<RunRow | undefined> {
  const row = await db.selectFrom("runs").selectAll().where("run_id", "=", runId).executeTakeFirst();
  return row && toRunRow(row);
}

export async function countRuns(db: Kysely<Tables>): Promise<Partial<Record<RunStatus, number>>> {
  const rows = await db
    .selectFrom("runs")
    .select(["status", sql<number | string>`count(*)`.as("runs")])
    .groupBy("status")
    .execute();
  return Object.fromEntries(rows.map((row) => [row.status, Number(row.runs)]));
}

export async function activeDescendants(
  db: Kysely<Tables>,
  heads: Kysely<Tables>,
  visible: Visibility,
  { rootRunId, after, limit, statesUpTo }: DescendantQuery,
): Promise<Run[]> {
  const { tenant, workspace } = visible;
  const rows = await db
    .selectFrom("runs")
    .select(["run_id", stateUpTo(statesUpTo)])
    .where("tenant", "=", tenant)
    // Not as a plain column: SQLite would read by the index of workspaces instead of that of families.
    .$if(workspace !== undefined, (runs) => runs.where(sql<boolean>`coalesce(workspace, '') = ${workspace}`))
    .where("root_run_id", "=", rootRunId)
    .where("run_id", ">", after)
    .where("status", "not in", ["completed", "failed", "cancelled"])
    .orderBy("run_id")
    .limit(limit)
    .execute();
  return runsOrHeads(heads, visible.tenant, rows);
}

export async function countedRuns(db: Kysely<Tables>): Promise<CountedRuns> {
  const tenants = await db
    .selectFrom("tenant_runs")
    .select(["tenant", sql<number | string>`sum(active)`.as("active")])
    .groupBy("tenant")
    .execute();
  const families = await db.selectFrom("run_families").select(["root_run_id", "descendants"]).execute();
  return {
    active: Object.fromEntries(tenants.map((row) => [row.tenant, Number(row.active)])),
    descendants: Object.fromEntries(families.map((row) => [row.root_run_id, row.descendants])),
  };
}
