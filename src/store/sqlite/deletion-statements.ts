import { runDeletes } from "../read/delete-run.ts";
import type { RunTombstonesTable } from "../schema/queue-tables.ts";

/** The order in which values are bound, and columns named. */
export const TOMBSTONE_COLUMNS = [
  "run_id",
  "tenant",
  "workspace",
  "workflow_id",
  "version",
  "reason",
  "at",
] as const satisfies readonly (keyof RunTombstonesTable)[];

/** Each takes the run and the tenant. */
export const RUN_DELETES = runDeletes({ run: "?1", tenant: "?2", last: "char(1114111)" });

export const DELETION_WRITES = {
  ...RUN_DELETES,
  insertTombstone: `insert into run_tombstones (${TOMBSTONE_COLUMNS}) values (${TOMBSTONE_COLUMNS.map(() => "?")})
    on conflict (run_id) do nothing`,
} as const;

export const DELETION_READS = {
  endedRun: "select version, tenant, status, lease_owner, lease_until from runs where run_id = ?",
} as const;
