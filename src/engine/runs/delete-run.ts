import type { AuditDraft } from "../../protocol/audit/audit.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";
import type { DeleteRunResponse } from "../../protocol/runs/deletion-operations.ts";
import type { Deletion, Tombstone } from "../../store/port/judgments.ts";
import type { Unit } from "../../store/port/store.ts";
import { auditDraft, type Recorder, refused } from "../execute.ts";
import type { Host } from "../host.ts";

export interface DeleteRun {
  readonly caller: Caller;
  readonly runId: string;
  readonly record: Recorder<DeleteRunResponse>;
}

/** Removes a run with all below it. Throws `not_found`, and `run_state_conflict` while one of them goes on. */
export async function deleteRun(host: Host, { caller, runId, record }: DeleteRun): Promise<DeleteRunResponse> {
  const deletion = await host.store.deletionOf(caller, runId);
  if (deletion === undefined) throw new AppError("not_found", { what: "run", runId });
  const [active] = deletion.active;
  if (active !== undefined) throw await stillActive(host, caller, active);
  const result = { runId, deletedRuns: deletion.runs.map((run) => run.runId), annotations: deletion.annotations };
  const nowMs = host.nowMs();
  const outcome = record(result);
  const committed = await host.store.commit({
    ...deleting(caller.tenant, deletion, { reason: "deleted", atMs: nowMs }),
    audit: entriesOf(deletion, "deleted").map(({ target, ...note }) => auditDraft(caller, nowMs, target, note)),
    ...(outcome === undefined ? {} : { idempotency: outcome }),
  });
  if (!committed.ok)
    throw committed.refusal.type === "lease" ? held(committed.refusal.runId) : refused(committed.refusal);
  return result;
}

async function stillActive(host: Host, { tenant }: Visibility, runId: string): Promise<AppError> {
  const run = await host.store.readRun({ tenant }, runId);
  if (run === undefined) return new AppError("not_found", { what: "run", runId });
  const problem = "only what has ended can be deleted: wait for its end, or cancel it";
  return new AppError("run_state_conflict", { runId, runStatus: run.status, problem });
}

function held(runId: string): AppError {
  const problem = "a worker has not let go of it yet: try again in a moment";
  return new AppError("run_state_conflict", { runId, runStatus: "ending", problem });
}

/** The part of a unit that removes runs and leaves their tombstones. */
export function deleting(tenant: string, { runs }: Deletion, why: Pick<Tombstone, "reason" | "atMs">): Unit {
  return { tenant, deletions: runs.map((run) => ({ ...run, tenant, ...why })) };
}

/** What the audit log keeps of runs that are gone: that they were there and how much of them, never what was in them. */
export function entriesOf(
  { runs, annotations }: Deletion,
  reason: Tombstone["reason"],
): Pick<AuditDraft, "action" | "target" | "details">[] {
  const [first] = runs;
  return runs.map(({ runId, workflowId, version }) => {
    const what = { workflowId, events: version, reason };
    const how = runId === first?.runId ? { runs: runs.length, annotations } : { with: first?.runId ?? runId };
    return { action: "run.deleted", target: runId, details: { ...what, ...how } };
  });
}
