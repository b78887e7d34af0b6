import type { AuditDraft } from "../../protocol/audit/audit.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";
import type { DeleteRunResponse } from "../../protocol/runs/api.ts";
import type { Deletion, Tombstone } from "../../store/port/judgments.ts";
import type { Unit } from "../../store/port/store.ts";
import { auditDraft, type Recorder, refused } from "../execute.ts";
import type { Host } from "../host.ts";

interface DeleteRun {
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
  for (const { runs, entries } of partsOf(deletion, "deleted")) {
    const isLast = runs.some((run) => run.runId === runId);
    const committed = await host.store.commit({
      ...deleting(caller.tenant, { runs }, { reason: "deleted", atMs: nowMs }),
      audit: entries.map(({ target, ...note }) => auditDraft(caller, nowMs, target, note)),
      ...(outcome === undefined || !isLast ? {} : { idempotency: outcome }),
    });
    if (!committed.ok)
      throw committed.refusal.type === "lease" ? held(committed.refusal.runId) : refused(committed.refusal);
  }
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
export function deleting(
  tenant: string,
  { runs }: Pick<Deletion, "runs">,
  why: Pick<Tombstone, "reason" | "atMs">,
): Unit {
  return { tenant, deletions: runs.map((run) => ({ ...run, tenant, ...why })) };
}

/** Events of the runs that go in one commit: others wait for as long as it takes. */
const EVENTS_AT_ONCE = 20_000;

/** What a run costs beside its events, in events: what queues answered about it is looked for among all that they answered. */
const RUN_EVENTS = 500;

interface DeletionPart extends Pick<Deletion, "runs"> {
  readonly entries: AuditNotes;
}

/**
 * Runs that go in one commit, those of a large family in several: the run itself comes last, and none goes before those below it, so that
 * whoever asks again after one was cut off finds all that are left.
 */
export function partsOf(deletion: Deletion, reason: Tombstone["reason"]): DeletionPart[] {
  const entries = entriesOf(deletion, reason);
  const parts: DeletionPart[] = [];
  let end = deletion.runs.length;
  let size = 0;
  for (const [i, { version }] of [...deletion.runs.entries()].reverse()) {
    size += RUN_EVENTS + version;
    if (size > EVENTS_AT_ONCE && i + 1 < end) {
      parts.push({ runs: deletion.runs.slice(i + 1, end), entries: entries.slice(i + 1, end) });
      end = i + 1;
      size = RUN_EVENTS + version;
    }
  }
  return [...parts, { runs: deletion.runs.slice(0, end), entries: entries.slice(0, end) }];
}

type AuditNotes = readonly Pick<AuditDraft, "action" | "target" | "details">[];

/** What the audit log keeps of runs that are gone: that they were there and how much of them, never what was in them. */
function entriesOf({ runs, annotations }: Deletion, reason: Tombstone["reason"]): AuditNotes {
  const [first] = runs;
  return runs.map(({ runId, workflowId, version }) => {
    const what = { workflowId, events: version, reason };
    const how = runId === first?.runId ? { runs: runs.length, annotations } : { with: first?.runId ?? runId };
    return { action: "run.deleted", target: runId, details: { ...what, ...how } };
  });
}
