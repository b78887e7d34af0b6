import { type Kysely, sql } from "kysely";
import { agentFields } from "../../protocol/agents/agent-of.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { isTerminal, type RunStatus } from "../../protocol/runs/run-status.ts";
import type { Deletion, EndedRun, EndedRunQuery, ExpiredQuery, Tombstone } from "../port/judgments.ts";
import { agentsIn, holdsAgent } from "../rows/annotation-rows.ts";
import { type RunsTable, runTombstones } from "../schema/runs.ts";
import type { Tables } from "../schema/tables.ts";
import { HAS_ENDED, inBatches, visibleTo } from "./conditions.ts";
import { type BoundedState, firstRunIdAt, runsOrHeads, stateUpTo } from "./run-heads.ts";

export async function endedRuns(db: Kysely<Tables>, visible: Visibility, query: EndedRunQuery): Promise<EndedRun[]> {
  const { after, limit, workflowId, agentId, status } = query;
  const rows = await db
    .selectFrom("runs")
    .select(["run_id", "workspace", "workflow_id", "agent_id", "status", "updated_at"])
    .where(visibleTo(visible))
    .where(HAS_ENDED)
    .where(sql<boolean>`(updated_at, run_id) > (${after.endedAtMs}, ${after.runId})`)
    .$if(workflowId !== undefined, (runs) => runs.where("workflow_id", "=", workflowId ?? ""))
    .$if(agentId !== undefined, (runs) => runs.where(holdsAgent(sql`agent_id`, agentId ?? "")))
    .$if(status !== undefined, (runs) => runs.where("status", "=", status ?? "pending"))
    .orderBy("updated_at")
    .orderBy("run_id")
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    runId: row.run_id,
    ...(row.workspace === null ? {} : { workspace: row.workspace }),
    workflowId: row.workflow_id,
    ...agentFields(agentsIn(row.agent_id)),
    status: row.status as RunStatus,
    endedAtMs: row.updated_at,
  }));
}

/**
 * By the index of a workflow's runs, and not by when they ended: those of workflows that keep theirs for ever would be in
 * the way of every sweep.
 */
export async function expiredRuns(db: Kysely<Tables>, query: ExpiredQuery): Promise<string[]> {
  const { tenant, workflowId, endedBeforeMs, limit, after = "" } = query;
  const rows = await db
    .selectFrom("runs")
    .select("run_id")
    .where("tenant", "=", tenant)
    .where("workflow_id", "=", workflowId)
    .where("run_id", ">", after)
    // A run that was created later cannot have ended before.
    .where("run_id", "<", firstRunIdAt(endedBeforeMs))
    .where(HAS_ENDED)
    .where("updated_at", "<", endedBeforeMs)
    .orderBy("run_id")
    .limit(limit)
    .execute();
  return rows.map((row) => row.run_id);
}

/** From one pair to the next along the index: as many steps as there are pairs, however many runs they have. */
export async function runWorkflows(db: Kysely<Tables>): Promise<{ tenant: string; workflowId: string }[]> {
  const found: { tenant: string; workflowId: string }[] = [];
  for (let last = await firstAfter(db, ""); last !== undefined; last = await following(db, last)) {
    found.push({ tenant: last.tenant, workflowId: last.workflow_id });
  }
  return found;
}

interface Pair {
  readonly tenant: string;
  readonly workflow_id: string;
}

async function following(db: Kysely<Tables>, { tenant, workflow_id }: Pair): Promise<Pair | undefined> {
  const sibling = await pairs(db)
    .where("tenant", "=", tenant)
    .where("workflow_id", ">", workflow_id)
    .orderBy("workflow_id")
    .executeTakeFirst();
  return sibling ?? firstAfter(db, tenant);
}

function firstAfter(db: Kysely<Tables>, tenant: string): Promise<Pair | undefined> {
  return pairs(db).where("tenant", ">", tenant).orderBy("tenant").orderBy("workflow_id").executeTakeFirst();
}

function pairs(db: Kysely<Tables>) {
  return db.selectFrom("runs").select(["tenant", "workflow_id"]).limit(1);
}

export async function readTombstone(
  db: Kysely<Tables>,
  visible: Visibility,
  runId: string,
): Promise<Tombstone | undefined> {
  const row = await db
    .selectFrom("run_tombstones")
    .selectAll()
    .where("run_id", "=", runId)
    .where(visibleTo(visible))
    .executeTakeFirst();
  return row && runTombstones.toRecord(row);
}

/** `heads` is the handle that heads are read with. */
export async function deletionOf(
  db: Kysely<Tables>,
  heads: Kysely<Tables>,
  visible: Visibility,
  runId: string,
): Promise<Deletion | undefined> {
  const { tenant, workspace } = visible;
  const [first] = await runsBy(db, tenant, [runId]);
  if (first === undefined || (workspace !== undefined && first.workspace !== workspace)) return undefined;
  const family = [first];
  for (let parents = [first]; parents.length > 0; ) {
    parents = await childrenOf(db, heads, tenant, parents);
    family.push(...parents);
  }
  return {
    runs: family.map(({ run_id, workspace: place, workflow_id, version }) => ({
      runId: run_id,
      ...(place === null ? {} : { workspace: place }),
      workflowId: workflow_id,
      version,
    })),
    active: family.filter(({ status }) => !isTerminal(status as RunStatus)).map(({ run_id }) => run_id),
    annotations: await countAnnotations(
      db,
      tenant,
      family.map(({ run_id }) => run_id),
    ),
  };
}

type FamilyRow = Pick<RunsTable, "run_id" | "workspace" | "workflow_id" | "status" | "version"> & BoundedState;

/** Runs whose parent is the run. A fork has copied its source's events about children that are the source's. */
async function childrenOf(
  db: Kysely<Tables>,
  heads: Kysely<Tables>,
  tenant: string,
  parents: readonly FamilyRow[],
): Promise<FamilyRow[]> {
  const parentIds = new Set(parents.map(({ run_id }) => run_id));
  const runs = await runsOrHeads(heads, tenant, parents);
  const found = await runsBy(
    db,
    tenant,
    runs.flatMap(({ children }) => Object.keys(children)),
  );
  const below = await runsOrHeads(heads, tenant, found);
  const childIds = new Set(below.filter(({ parent }) => parentIds.has(parent?.runId ?? "")).map(({ runId }) => runId));
  return found.filter(({ run_id }) => childIds.has(run_id));
}

/** Of larger runs the database reads the head: a family may have a thousand runs. */
const STATE_BYTES = 32_768;

function runsBy(db: Kysely<Tables>, tenant: string, runIds: readonly string[]): Promise<FamilyRow[]> {
  return inBatches(runIds, (ids) =>
    db
      .selectFrom("runs")
      .select(["run_id", "workspace", "workflow_id", "status", "version", stateUpTo(STATE_BYTES)])
      .where("tenant", "=", tenant)
      .where("run_id", "in", ids)
      .orderBy("run_id")
      .execute(),
  );
}

async function countAnnotations(db: Kysely<Tables>, tenant: string, runIds: readonly string[]): Promise<number> {
  const counts = await inBatches(runIds, (ids) =>
    db
      .selectFrom("annotations")
      .select(sql<number | string>`count(*)`.as("found"))
      .where("tenant", "=", tenant)
      .where("run_id", "in", ids)
      .execute(),
  );
  return counts.reduce((sum, { found }) => sum + Number(found), 0);
}
