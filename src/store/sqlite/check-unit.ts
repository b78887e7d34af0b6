import { isTerminal, type RunStatus } from "../../protocol/runs/run-status.ts";
import type { CountChanges } from "../port/creation-limits.ts";
import type { Refusal } from "../port/store.ts";
import { hasExpired } from "../read/external-events.ts";
import { givesWay } from "../read/standing-outcome.ts";
import { toExternalEvent } from "../rows/gate-rows.ts";
import { type IdempotencyColumns, toEffectRecord, toIdempotencyRecord } from "../rows/rows.ts";
import type { ExternalEventsTable } from "../schema/gate-tables.ts";
import type { EffectsTable } from "../schema/tables.ts";
import { checkAnnotations } from "./check-annotations.ts";
import { checkGrounds } from "./check-grounds.ts";
import { checkQueues } from "./check-queues.ts";
import { checkTapes } from "./check-tapes.ts";
import { checkDeletions } from "./flatten-deletions.ts";
import { checkDocuments } from "./flatten-documents.ts";
import { checkReviews } from "./flatten-reviews.ts";
import type { ExternalEventCheck, FlatUnit, IdempotencyCheck, RunCheck } from "./operations.ts";
import { changesOf, type RunCounts } from "./run-counts.ts";
import type { Statements } from "./statements.ts";

export type Checked =
  | { readonly refusal: Refusal }
  | {
      readonly refusal?: never;
      readonly work: boolean;
      readonly counts: CountChanges;
      /** Runs that end in a dedup scope. */
      readonly leave: readonly string[];
    };

/**
 * Looks at everything a unit depends on before any of it is written: a refused unit leaves no trace to undo. Runs
 * inside the write transaction, so nothing changes between looking and writing.
 */
export function checkUnit(unit: FlatUnit, statements: Statements, runCounts: RunCounts): Checked {
  let work = false;
  const heads = new Map<string, RunHead | undefined>();
  for (const check of unit.runs) {
    const found = checkRun(unit.tenant, check, statements);
    if (found.refusal !== undefined) return found;
    work ||= found.work;
    heads.set(check.runId, found.head);
  }
  const counts = changesOf(unit, heads);
  const leave = unit.runs.flatMap(({ runId, status }) =>
    isTerminal(status) && (heads.get(runId)?.dedup_scope ?? null) !== null ? [runId] : [],
  );
  const refusal =
    runCounts.refusal(unit, counts) ??
    checkEffects(unit.effectIds, statements) ??
    checkIdempotency(unit.idempotency, statements) ??
    checkExternalEvents(unit.externalEvents, statements) ??
    checkAnnotations(unit.tenant, unit.annotations, statements) ??
    checkQueues(unit.tenant, unit.queues, statements) ??
    checkTapes(unit.tenant, unit.tapes, statements) ??
    checkReviews(unit.tenant, unit.reviews, statements) ??
    checkDocuments(unit.documents, statements) ??
    checkDeletions(unit.tenant, unit.deletions, statements) ??
    checkGrounds(unit.tenant, unit.grounds, statements);
  return refusal === undefined ? { work, counts, leave } : { refusal };
}

export interface RunHead {
  readonly version: number;
  readonly tenant: string;
  readonly status: RunStatus;
  readonly lease_owner: string | null;
  readonly dedup_scope: string | null;
}

type CheckedRun =
  | { readonly refusal: Refusal }
  | { readonly refusal?: never; work: boolean; head: RunHead | undefined };

function checkRun(tenant: string, check: RunCheck, statements: Statements): CheckedRun {
  const { runId, expectedVersion, heldBy, dedup, wakes, leased } = check;
  const row = statements.runHead.get(runId) as RunHead | undefined;
  // Another tenant's run does not exist for this one.
  const head = row?.tenant === tenant ? row : undefined;
  const version = head?.version ?? 0;
  if (version !== expectedVersion) return { refusal: { type: "version", runId, version } };
  if (heldBy !== undefined && head?.lease_owner !== heldBy) return { refusal: { type: "lease", runId } };
  if (dedup !== undefined) {
    const active = statements.activeRun.get(tenant, dedup.workflowId, dedup.scope) as { run_id: string } | undefined;
    if (active !== undefined) return { refusal: { type: "active", runId: active.run_id } };
  }
  const held = leased === "as before" ? (head?.lease_owner ?? null) !== null : leased;
  return { work: wakes && !held, head };
}

function checkEffects(effectIds: readonly string[], statements: Statements): Refusal | undefined {
  for (const effectId of effectIds) {
    const row = statements.effect.get(effectId) as EffectsTable | undefined;
    if (row !== undefined) return { type: "effect", record: toEffectRecord(row) };
  }
  return undefined;
}

type IdempotencyRow = IdempotencyColumns & { readonly lease_owner: string | null; readonly expires_at: number };

function checkIdempotency(check: IdempotencyCheck | undefined, statements: Statements): Refusal | undefined {
  if (check === undefined) return undefined;
  const row = statements.idempotency.get(check.tenant, check.operation, check.key) as IdempotencyRow | undefined;
  if (row === undefined || givesWay(row, check)) return undefined;
  return { type: "idempotency", record: toIdempotencyRecord(row) };
}

function checkExternalEvents(checks: readonly ExternalEventCheck[], statements: Statements): Refusal | undefined {
  for (const { key, newAtMs } of checks) {
    const { tenant, workspace, correlationId, eventId } = key;
    const found = statements.externalEvent.get(tenant, workspace, correlationId, eventId);
    const row = found as ExternalEventsTable | undefined;
    const fits = newAtMs === undefined ? row?.state === "held" : row === undefined || hasExpired(row, newAtMs);
    if (!fits) return { type: "external-event", ...(row === undefined ? {} : { record: toExternalEvent(row) }) };
  }
  return undefined;
}
