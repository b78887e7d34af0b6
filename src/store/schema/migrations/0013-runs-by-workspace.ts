import { type Kysely, type Migration, sql } from "kysely";

/** Runs of a workspace, which a key of the workspace lists: it walked all runs of its tenant. */
export const runsByWorkspace: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of INDEXES) await sql.raw(statement).execute(db);
  },
};

const INDEXES = [
  "create index runs_by_workspace on runs (tenant, workspace, run_id) where workspace is not null",
  "create index runs_by_workspace_status on runs (tenant, workspace, status, run_id) where workspace is not null",
  "create index runs_by_workspace_workflow on runs (tenant, workspace, workflow_id, run_id) where workspace is not null",
];
