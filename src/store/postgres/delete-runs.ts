import type { Refusal, Unit } from "../port/store.ts";
import { runDeletes } from "../read/delete-run.ts";
import { refusalToDelete } from "../rows/deletable.ts";
import { tombstoneRow } from "../rows/queue-rows.ts";
import { prepared } from "./prepared.ts";
import type { StandingRows } from "./standing-rows.ts";
import { insertInto, type Statement } from "./statements.ts";

export function checkDeletions({ tenant, deletions = [] }: Unit, { runs }: StandingRows): Refusal | undefined {
  for (const deletion of deletions) {
    const refusal = refusalToDelete(tenant, deletion, runs.get(deletion.runId)?.row);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

const DELETES = Object.entries(runDeletes({ run: "$1::text", tenant: "$2::text", last: "chr(1114111)" })).map(
  ([name, text]) => prepared(`run: ${name}`, text),
);

const insertTombstones = insertInto(
  "run_tombstones",
  {
    run_id: "text",
    tenant: "text",
    workspace: "text",
    workflow_id: "text",
    version: "integer",
    reason: "text",
    at: "bigint",
  } as const,
  "on conflict (run_id) do nothing",
);

/** The rows of a run were locked with the run: whoever writes about it locks it first. */
export function deleteRuns(units: readonly Unit[]): Statement[] {
  return units.flatMap(({ tenant, deletions = [] }) => [
    // One table after the other for all runs, so that tables are always come to in the same order.
    ...DELETES.flatMap((statement) => deletions.map(({ runId }) => ({ ...statement, values: [runId, tenant] }))),
    ...insertTombstones(deletions.map(tombstoneRow)),
  ]);
}
