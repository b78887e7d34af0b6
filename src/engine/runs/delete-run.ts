import type { AuditDraft } from "../../protocol/audit/audit.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";
import type { DeleteRunResponse } from "../../protocol/runs/api.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { Deletion, Tombstone } from "../../store/port/judgments.ts";
import type { Store, Unit } from "../../store/port/store.ts";
import { auditDraft, type Recorder, refused } from "../execute.ts";
import type { Host } from "../host.ts";
import { type Sweep, type SweepSettings, startSweep } from "../shared/sweep.ts";

interface DeleteRun {
  readonly caller: Caller;
  readonly runId: string;
  readonly record: Recorder<DeleteRunResponse>;
}

/** Removes a run with all its descendants. Throws `not_found`, and `run_state_conflict` while one of them has not ended. */
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
    if (!committed.ok) {
      throw committed.refusal.type === "lease" ? held(committed.refusal.runId) : refused(committed.refusal);
    }
  }
  return result;
}

async function stillActive(host: Host, { tenant }: Visibility, runId: string): Promise<AppError> {
  const run = await host.store.readRun({ tenant }, runId);
  if (run === undefined) return new AppError("not_found", { what: "run", runId });
  const problem = "only an ended run can be deleted: wait for its end, or cancel it";
  return new AppError("run_state_conflict", { runId, runStatus: run.status, problem });
}

function held(runId: string): AppError {
  const problem = "a worker has not released it yet: try again in a moment";
  return new AppError("run_state_conflict", { runId, runStatus: "ending", problem });
}

/** The part of a unit that removes runs and leaves their tombstones. */
function deleting(tenant: string, { runs }: Pick<Deletion, "runs">, why: Pick<Tombstone, "reason" | "atMs">): Unit {
  return { tenant, deletions: runs.map((run) => ({ ...run, tenant, ...why })) };
}

/** Events of the runs that one commit removes: other requests wait for that long. */
const EVENTS_AT_ONCE = 20_000;

/** The fixed cost of a removed run, in events: the judgments of queues about it are searched for. */
const RUN_EVENTS = 500;

interface DeletionPart extends Pick<Deletion, "runs"> {
  readonly entries: AuditNotes;
}

/**
 * The runs of a deletion, in one commit or, for a large family, in several. Descendants come before their ancestors, so a deletion that was
 * interrupted can be repeated with the same run.
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

/** The audit entries of deleted runs: their ids and sizes, never their content. */
function entriesOf({ runs, annotations }: Deletion, reason: Tombstone["reason"]): AuditNotes {
  const [first] = runs;
  return runs.map(({ runId, workflowId, version }) => {
    const what = { workflowId, events: version, reason };
    const how = runId === first?.runId ? { runs: runs.length, annotations } : { with: first?.runId ?? runId };
    return { action: "run.deleted", target: runId, details: { ...what, ...how } };
  });
}

const DAY_MS = 86_400_000;

/** Expired runs that are read at once. Each is removed in a commit of its own, with requests in between. */
const PAGE = 100;

interface RetentionSettings extends SweepSettings {
  /** For workflows without a setting of their own; 0 is for ever. */
  readonly defaultDays: number;
  /** Called with the number of removed runs, if there are any. */
  onSwept(runs: number): void;
}

/** Removes expired runs from time to time. Any number of processes may sweep. */
export function sweepExpiredRuns(host: Pick<Host, "store" | "nowMs">, settings: RetentionSettings): Sweep {
  return startSweep(settings, async (isStopping) => {
    const runs = await removeExpiredRuns(host, settings.defaultDays, isStopping);
    if (runs > 0) settings.onSwept(runs);
  });
}

/** Removes the runs whose retention is over, with their descendants, and returns their number. A run with an active descendant stays until the next sweep. */
export async function removeExpiredRuns(
  host: Pick<Host, "store" | "nowMs">,
  defaultDays: number,
  stopping: () => boolean = () => false,
): Promise<number> {
  let removed = 0;
  for (const { tenant, workflowId } of await host.store.runWorkflows()) {
    if (stopping()) break;
    const days = (await retentionDaysOf(host, tenant, workflowId)) ?? defaultDays;
    if (days > 0) removed += await removeExpired(host, { tenant, workflowId, days }, stopping);
  }
  return removed;
}

/** The retention of the newest definition, which holds for existing runs too. */
async function retentionDaysOf(
  { store }: Pick<Host, "store">,
  tenant: string,
  workflowId: string,
): Promise<number | undefined> {
  const workflow = await store.readWorkflow(tenant, workflowId);
  if (workflow === undefined) return undefined;
  const { settings } = JSON.parse(workflow.definition) as { settings?: { retentionDays?: unknown } };
  const days = settings?.retentionDays;
  return typeof days === "number" ? days : undefined;
}

interface Expiry {
  readonly tenant: string;
  readonly workflowId: string;
  readonly days: number;
}

async function removeExpired(
  host: Pick<Host, "store" | "nowMs">,
  { tenant, workflowId, days }: Expiry,
  stopping: () => boolean,
): Promise<number> {
  const endedBeforeMs = host.nowMs() - days * DAY_MS;
  let removed = 0;
  for (let after = ""; ; ) {
    const page = await host.store.expiredRuns({ tenant, workflowId, endedBeforeMs, limit: PAGE, after });
    for (const runId of page) {
      if (stopping()) return removed;
      removed += await expire(host, tenant, runId);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return removed;
    after = last;
  }
}

/** Removes a run and its descendants, and returns their number: 0 where another process was first, or a descendant has not ended. */
async function expire({ store, nowMs }: Pick<Host, "store" | "nowMs">, tenant: string, runId: string): Promise<number> {
  const deletion = await store.deletionOf({ tenant }, runId);
  if (deletion === undefined || deletion.active.length > 0) return 0;
  const atMs = nowMs();
  const occurredAt = new Date(atMs).toISOString();
  let gone = 0;
  for (const { runs, entries } of partsOf(deletion, "expired")) {
    const audit = entries.map((entry): AuditDraft => ({ ...entry, occurredAt, actor: "host" }));
    const committed = await store.commit({ ...deleting(tenant, { runs }, { reason: "expired", atMs }), audit });
    if (!committed.ok) break;
    gone += runs.length;
  }
  return gone;
}

/** Throws `not_found` for a run that is being deleted. It is called after the judgments of the run were read: they may have been deleted in part. */
export async function requireKept(
  store: Pick<Store, "readTombstone">,
  { runId, owner: { tenant } }: Pick<Run, "runId" | "owner">,
): Promise<void> {
  const tombstone = await store.readTombstone({ tenant }, runId);
  if (tombstone !== undefined) throw new AppError("not_found", { what: "run", runId });
}
