import { isTerminal } from "../../protocol/runs/run-status.ts";
import { type CountChanges, countChanges, refusalToCreate } from "../port/creation-limits.ts";
import type { Refusal } from "../port/store.ts";
import { toIdempotencyRecord } from "../rows/rows.ts";
import { externalEvents } from "../schema/gates.ts";
import type { IdempotencyTable } from "../schema/host.ts";
import { effects } from "../schema/runs.ts";
import type { CurrentRows, CurrentRun } from "./current-rows.ts";
import type * as C from "./unit-checks.ts";

export type Checked =
  | { readonly refusal: Refusal; readonly counts?: never }
  /** The changes of the counts of runs by the unit. */
  | { readonly refusal?: never; readonly counts: CountChanges };

/**
 * The refusal of a unit, or what follows from its acceptance. All that a unit depends on is checked before any of it is written, so a
 * refused unit leaves nothing to undo. Nothing changes between the check and the write: both are in one transaction.
 */
export function checkUnit(unit: C.UnitChecks, current: CurrentRows): Checked {
  const { tenant } = unit;
  const refusedRun = first(unit.runs, (check) => checkRun(tenant, check, current));
  if (refusedRun !== undefined) return { refusal: refusedRun };
  const counts = countChanges(
    unit.runs.map(({ runId, status, rootRunId }) => ({ before: current.run(runId)?.status, after: status, rootRunId })),
  );
  const activeRuns = () => current.activeRuns(tenant);
  const refusal =
    refusalToCreate(counts, unit.creationLimits, activeRuns, (rootRunId) => current.family(rootRunId)) ??
    first(unit.effectIds, (effectId) => checkEffect(effectId, current)) ??
    (unit.idempotency && checkIdempotency(unit.idempotency, current)) ??
    first(unit.externalEvents, (check) => checkExternalEvent(check, current)) ??
    first(unit.annotations, (check) => checkAnnotation(tenant, check, current)) ??
    first(unit.queues, (check) => checkQueue(tenant, check, current)) ??
    first(unit.tapes, (check) => checkTape(tenant, check, current)) ??
    first(unit.reviews, (check) => checkReview(tenant, check, current)) ??
    first(unit.documents, (check) => checkDocument(check, current)) ??
    first(unit.deletions, (check) => refusalToDelete(tenant, check, current.run(check.runId))) ??
    first(unit.preconditions, (check) => checkPrecondition(tenant, check, current));
  return refusal === undefined ? { counts } : { refusal };
}

/** Whether a run waits for a worker after the unit. Read before the unit is written. */
export function makesWork(unit: C.UnitChecks, current: CurrentRows): boolean {
  return unit.runs.some(({ runId, wakes, leased }) => {
    const held = leased === "as before" ? (current.run(runId)?.lease_owner ?? null) !== null : leased;
    return wakes && !held;
  });
}

function first<T>(checks: readonly T[], refusalOf: (check: T) => Refusal | undefined): Refusal | undefined {
  for (const check of checks) {
    const refusal = refusalOf(check);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function checkRun(tenant: string, check: C.RunCheck, current: CurrentRows): Refusal | undefined {
  const { runId, expectedVersion, heldBy, dedup } = check;
  const row = current.run(runId);
  // Another tenant's run does not exist for this one, and its id is not free.
  const run = row?.tenant === tenant ? row : undefined;
  const version = run?.version ?? 0;
  if (version !== expectedVersion || row !== run) return { type: "version", runId, version };
  if (heldBy !== undefined && run?.lease_owner !== heldBy) return { type: "lease", runId };
  const active = dedup && current.activeRun(tenant, dedup.workflowId, dedup.scope);
  return active === undefined ? undefined : { type: "active", runId: active };
}

/** The refusal where a run that must be here is not. */
function checkThere(tenant: string, runId: string, current: CurrentRows): Refusal | undefined {
  return current.run(runId)?.tenant === tenant ? undefined : { type: "version", runId, version: 0 };
}

function checkEffect(effectId: string, current: CurrentRows): Refusal | undefined {
  const row = current.effect(effectId);
  return row && { type: "effect", record: effects.toRecord(row) };
}

function checkIdempotency(check: C.IdempotencyCheck, current: CurrentRows): Refusal | undefined {
  const row = current.outcome(check);
  if (row === undefined || isReplaceable(row, check)) return undefined;
  return { type: "idempotency", record: toIdempotencyRecord(row) };
}

/** An outcome replaces a record that no longer counts, and the pending claim that it completes. */
function isReplaceable(row: IdempotencyTable, { nowMs, leaseOwner }: C.IdempotencyCheck): boolean {
  if (row.expires_at <= nowMs || row.state === "retryable-failure") return true;
  if (row.state !== "pending") return false;
  return row.lease_until === null || row.lease_until <= nowMs || row.lease_owner === leaseOwner;
}

function checkExternalEvent({ key, newAtMs }: C.ExternalEventCheck, current: CurrentRows): Refusal | undefined {
  const row = current.externalEvent(key);
  const fits = newAtMs === undefined ? row?.state === "held" : row === undefined || row.expires_at <= newAtMs;
  if (fits) return undefined;
  return { type: "external-event", ...(row === undefined ? {} : { record: externalEvents.toRecord(row) }) };
}

function checkAnnotation(tenant: string, check: C.AnnotationCheck, current: CurrentRows): Refusal | undefined {
  const { annotationId, runId, before } = check;
  const gone = runId === undefined ? undefined : checkThere(tenant, runId, current);
  if (gone !== undefined) return gone;
  const row = current.annotation(tenant, annotationId);
  const fits =
    before === undefined ? row === undefined : row?.state === before.state && row.flag_status === before.flag;
  if (fits) return undefined;
  return { type: "annotation", annotationId, ...(row === undefined ? {} : { state: row.state }) };
}

function checkQueue(tenant: string, check: C.QueueCheck, current: CurrentRows): Refusal | undefined {
  switch (check.type) {
    case "there": {
      const there = current.queue(check.queueId)?.tenant === tenant;
      return there ? undefined : { type: "queue", id: check.queueId, revision: 0 };
    }
    case "queue": {
      const { queueId, workspace, name, revision } = check;
      const moved = checkRevision(tenant, queueId, revision, current.queue(queueId));
      if (moved !== undefined) return moved;
      const named = current.queueNamed(tenant, workspace, name);
      if (named === undefined || named.queue_id === queueId) return undefined;
      return { type: "queue", id: named.queue_id, revision: named.revision };
    }
    case "item": {
      const { itemId, queueId, runId, subject, revision } = check;
      const row = current.item(itemId);
      const elsewhere = row !== undefined && row.queue_id !== queueId;
      const moved = checkRevision(tenant, itemId, revision, elsewhere ? { ...row, tenant: "" } : row);
      if (moved !== undefined || revision > 1) return moved;
      const gone = checkThere(tenant, runId, current);
      if (gone !== undefined) return gone;
      const taken = current.itemAbout(queueId, subject);
      return taken && { type: "queue", id: taken.item_id, revision: taken.revision };
    }
  }
}

/** A row of another tenant does not exist for this one, and its id is not free. */
function checkRevision(
  tenant: string,
  id: string,
  revision: number,
  row: { readonly tenant: string; readonly revision: number } | undefined,
): Refusal | undefined {
  const foreign = row !== undefined && row.tenant !== tenant;
  const found = row === undefined || foreign ? 0 : row.revision;
  return found === revision - 1 && !foreign ? undefined : { type: "queue", id, revision: found };
}

function checkTape(tenant: string, check: C.TapeCheck, current: CurrentRows): Refusal | undefined {
  if (check.type === "import") {
    const runId = current.tape(check.tenant, check.workspace, check.digest);
    return runId === undefined ? undefined : { type: "tape", runId };
  }
  const { runId, revision } = check;
  const gone = checkThere(tenant, runId, current);
  if (gone !== undefined) return gone;
  return current.sidecarRevision(runId) === revision - 1 ? undefined : { type: "tape", runId };
}

function checkReview(tenant: string, { sessionId, after }: C.ReviewCheck, current: CurrentRows): Refusal | undefined {
  const row = current.review(sessionId);
  const mine = row?.tenant === tenant;
  const fits =
    after === undefined
      ? mine
      : after.revision === 0
        ? row === undefined
        : mine && row.revision === after.revision && row.lease_owner === after.heldBy;
  return fits ? undefined : { type: "review", sessionId, there: mine };
}

function checkDocument({ id, revision }: C.DocumentCheck, current: CurrentRows): Refusal | undefined {
  const found = current.documentRevision(id);
  return found === revision ? undefined : { type: "document", ...id, revision: found };
}

/**
 * A run that has ended may still be held by a worker whose node has not noticed, and which would write rows that nothing would ever
 * remove.
 */
export function refusalToDelete(
  tenant: string,
  { runId, version, atMs }: C.DeletionCheck,
  row: Omit<CurrentRun, "dedup_scope"> | undefined,
): Refusal | undefined {
  const run = row?.tenant === tenant ? row : undefined;
  if (run?.version !== version || !isTerminal(run.status)) {
    return { type: "version", runId, version: run?.version ?? 0 };
  }
  return run.lease_owner !== null && (run.lease_until ?? 0) > atMs ? { type: "lease", runId } : undefined;
}

function checkPrecondition(
  tenant: string,
  { runId, version: wanted, judgedUpTo }: C.UnitChecks["preconditions"][number],
  current: CurrentRows,
): Refusal | undefined {
  const row = current.run(runId);
  const version = row?.tenant === tenant ? row.version : 0;
  if (version !== wanted) return { type: "version", runId, version };
  if (judgedUpTo === undefined || !current.judgedSince(tenant, judgedUpTo, runId)) return undefined;
  return { type: "precondition", runId };
}
