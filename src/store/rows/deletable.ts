import { isTerminal, type RunStatus } from "../../protocol/runs/run-status.ts";
import type { RunDeletion } from "../port/judgments.ts";
import type { Refusal } from "../port/store.ts";
import type { RunsTable } from "../schema/tables.ts";

export type EndedRunRow = Pick<RunsTable, "tenant" | "version" | "status" | "lease_owner" | "lease_until">;

/**
 * Why a run cannot go as it stands. One that has ended may still be in the hands of a worker whose node has not noticed,
 * and which would write what nobody would ever remove.
 */
export function refusalToDelete(
  tenant: string,
  { runId, version, atMs }: Pick<RunDeletion, "runId" | "version" | "atMs">,
  row: EndedRunRow | undefined,
): Refusal | undefined {
  const run = row?.tenant === tenant ? row : undefined;
  if (run?.version !== version || !isTerminal(run.status as RunStatus)) {
    return { type: "version", runId, version: run?.version ?? 0 };
  }
  const held = run.lease_owner !== null && (run.lease_until ?? 0) > atMs;
  return held ? { type: "lease", runId } : undefined;
}
