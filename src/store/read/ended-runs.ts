import { type Kysely, sql } from "kysely";
import { agentFields } from "../../protocol/agents/agent-of.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { RunStatus } from "../../protocol/runs/run-status.ts";
import type { EndedRun, EndedRunQuery, ExpiredQuery } from "../port/judgments.ts";
import { agentsIn, holdsAgent } from "../rows/agent-column.ts";
import type { Tables } from "../schema/tables.ts";
import { firstRunIdAt } from "./run-id-at.ts";

/** The index of ended runs holds only these. A literal, because SQLite does not look into parameters for that. */
const hasEnded = sql<boolean>`status in ('completed', 'failed', 'cancelled')`;

export async function endedRuns(
  db: Kysely<Tables>,
  { tenant, workspace }: Visibility,
  query: EndedRunQuery,
): Promise<EndedRun[]> {
  const { after, limit, workflowId, agentId, status } = query;
  const rows = await db
    .selectFrom("runs")
    .select(["run_id", "workspace", "workflow_id", "agent_id", "status", "updated_at"])
    .where("tenant", "=", tenant)
    .where(hasEnded)
    .where(sql<boolean>`(updated_at, run_id) > (${after.endedAtMs}, ${after.runId})`)
    .$if(workspace !== undefined, (runs) => runs.where("workspace", "=", workspace ?? ""))
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
    .where(hasEnded)
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
