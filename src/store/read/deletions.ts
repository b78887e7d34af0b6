import { type Kysely, sql } from "kysely";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { isTerminal, type RunStatus } from "../../protocol/runs/run-status.ts";
import type { Deletion, Tombstone } from "../port/judgments.ts";
import { type RunsTable, runTombstones } from "../schema/runs.ts";
import type { Tables } from "../schema/tables.ts";
import { type BoundedState, runsOrHeads, stateUpTo } from "./run-heads.ts";

export async function readTombstone(
  db: Kysely<Tables>,
  { tenant, workspace }: Visibility,
  runId: string,
): Promise<Tombstone | undefined> {
  const row = await db
    .selectFrom("run_tombstones")
    .selectAll()
    .where("run_id", "=", runId)
    .where("tenant", "=", tenant)
    .$if(workspace !== undefined, (found) => found.where("workspace", "=", workspace ?? ""))
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

/** Those who know the run for their parent. A fork has copied what its source said of children that are the source's. */
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

/** Ids per statement: few enough parameters for either database. */
const RUNS_AT_ONCE = 500;

/** Of larger runs the database reads the head: a family may have a thousand runs. */
const STATE_BYTES = 32_768;

async function runsBy(db: Kysely<Tables>, tenant: string, runIds: readonly string[]): Promise<FamilyRow[]> {
  const found: FamilyRow[] = [];
  for (let i = 0; i < runIds.length; i += RUNS_AT_ONCE) {
    const rows = await db
      .selectFrom("runs")
      .select(["run_id", "workspace", "workflow_id", "status", "version", stateUpTo(STATE_BYTES)])
      .where("tenant", "=", tenant)
      .where("run_id", "in", runIds.slice(i, i + RUNS_AT_ONCE))
      .orderBy("run_id")
      .execute();
    found.push(...rows);
  }
  return found;
}

async function countAnnotations(db: Kysely<Tables>, tenant: string, runIds: readonly string[]): Promise<number> {
  let annotations = 0;
  for (let i = 0; i < runIds.length; i += RUNS_AT_ONCE) {
    const { found } = await db
      .selectFrom("annotations")
      .select(sql<number | string>`count(*)`.as("found"))
      .where("tenant", "=", tenant)
      .where("run_id", "in", runIds.slice(i, i + RUNS_AT_ONCE))
      .executeTakeFirstOrThrow();
    annotations += Number(found);
  }
  return annotations;
}
