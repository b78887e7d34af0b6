import type { Kysely } from "kysely";
import { HOST_WIDE, type StoredWorkflow, type WorkflowHead } from "../port/store.ts";
import type { Tables } from "../schema/tables.ts";

export async function readWorkflow(
  db: Kysely<Tables>,
  tenant: string,
  workflowId: string,
): Promise<StoredWorkflow | undefined> {
  const row = await heads(db)
    .where("workflow_heads.tenant", "in", [HOST_WIDE, tenant])
    .where("workflow_heads.workflow_id", "=", workflowId)
    // The tenant's own comes first: any name sorts after the empty one.
    .orderBy("workflow_heads.tenant", "desc")
    .limit(1)
    .executeTakeFirst();
  return row && toStoredWorkflow(row);
}

/** Without its definition, which may be large. */
export async function readWorkflowHash(
  db: Kysely<Tables>,
  tenant: string,
  workflowId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom("workflow_heads")
    .select("hash")
    .where("tenant", "in", [HOST_WIDE, tenant])
    .where("workflow_id", "=", workflowId)
    .orderBy("tenant", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.hash;
}

export async function readWorkflowByHash(db: Kysely<Tables>, hash: string): Promise<StoredWorkflow | undefined> {
  const row = await db
    .selectFrom("workflows")
    .select(["workflow_id", "hash", "definition", "created_at as registered_at"])
    .where("hash", "=", hash)
    .executeTakeFirst();
  return row && toStoredWorkflow(row);
}

export async function listWorkflows(
  db: Kysely<Tables>,
  tenant: string,
  after: string,
  limit: number,
): Promise<StoredWorkflow[]> {
  const rows = await visibleHeads(db, tenant, after, limit)
    .innerJoin("workflows", "workflows.hash", "workflow_heads.hash")
    .select(["workflows.definition", "workflow_heads.registered_at"])
    .execute();
  return rows.map(toStoredWorkflow);
}

export async function listWorkflowHeads(
  db: Kysely<Tables>,
  tenant: string,
  after: string,
  limit: number,
): Promise<WorkflowHead[]> {
  const rows = await visibleHeads(db, tenant, after, limit).execute();
  return rows.map(({ workflow_id, hash }) => ({ workflowId: workflow_id, hash }));
}

/** Without their definitions, which may be large. */
function visibleHeads(db: Kysely<Tables>, tenant: string, after: string, limit: number) {
  return db
    .selectFrom("workflow_heads")
    .select(["workflow_heads.workflow_id", "workflow_heads.hash"])
    .where("workflow_heads.workflow_id", ">", after)
    .where((head) =>
      head.or([
        head("workflow_heads.tenant", "=", tenant),
        head.and([
          head("workflow_heads.tenant", "=", HOST_WIDE),
          head.not(
            head.exists(
              head
                .selectFrom("workflow_heads as own")
                .select("own.hash")
                .where("own.tenant", "=", tenant)
                .whereRef("own.workflow_id", "=", "workflow_heads.workflow_id"),
            ),
          ),
        ]),
      ]),
    )
    .orderBy("workflow_heads.workflow_id")
    .limit(limit);
}

function heads(db: Kysely<Tables>) {
  return db
    .selectFrom("workflow_heads")
    .innerJoin("workflows", "workflows.hash", "workflow_heads.hash")
    .select([
      "workflow_heads.workflow_id",
      "workflow_heads.hash",
      "workflows.definition",
      "workflow_heads.registered_at",
    ]);
}

interface WorkflowColumns {
  readonly workflow_id: string;
  readonly hash: string;
  readonly definition: string;
  readonly registered_at: number;
}

function toStoredWorkflow({ workflow_id, hash, definition, registered_at }: WorkflowColumns): StoredWorkflow {
  return { workflowId: workflow_id, hash, definition, registeredAtMs: registered_at };
}
