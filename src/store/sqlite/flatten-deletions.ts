import type { RunDeletion } from "../port/judgments.ts";
import type { Refusal } from "../port/store.ts";
import { type EndedRunRow, refusalToDelete } from "../rows/deletable.ts";
import { tombstoneRow } from "../rows/queue-rows.ts";
import { RUN_DELETES, TOMBSTONE_COLUMNS } from "./deletion-statements.ts";
import type { DeletionCheck, Write } from "./operations.ts";
import type { StatementName, Statements } from "./statements.ts";

/** What must hold of the runs that go, and what is removed with them. */
export function flattenDeletions(
  tenant: string,
  deletions: readonly RunDeletion[] = [],
  writes: Write[],
): DeletionCheck[] {
  return deletions.map((deletion) => {
    const { runId, version, atMs } = deletion;
    for (const name of Object.keys(RUN_DELETES) as StatementName[]) writes.push([name, [runId, tenant]]);
    const row = tombstoneRow(deletion);
    writes.push(["insertTombstone", TOMBSTONE_COLUMNS.map((column) => row[column])]);
    return { runId, version, atMs };
  });
}

export function checkDeletions(
  tenant: string,
  checks: readonly DeletionCheck[],
  statements: Statements,
): Refusal | undefined {
  for (const check of checks) {
    const row = statements.endedRun.get(check.runId) as EndedRunRow | undefined;
    const refusal = refusalToDelete(tenant, check, row);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}
