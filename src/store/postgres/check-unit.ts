import type { ExternalEventWrite } from "../port/gates.ts";
import type { EffectClaim, IdempotencyOutcome, Refusal } from "../port/store.ts";
import { hasExpired } from "../read/external-events.ts";
import { givesWay } from "../read/standing-outcome.ts";
import { toExternalEvent } from "../rows/gate-rows.ts";
import { toEffectRecord, toIdempotencyRecord } from "../rows/rows.ts";
import { checkAnnotations } from "./apply-annotations.ts";
import { checkDocuments } from "./apply-documents.ts";
import { checkQueues } from "./apply-queues.ts";
import { checkReviews } from "./apply-reviews.ts";
import { checkTapes } from "./apply-tapes.ts";
import { checkDeletions } from "./delete-runs.ts";
import type { PreparedRun, PreparedUnit } from "./prepare-unit.ts";
import { checkRunCounts } from "./run-counts.ts";
import { checkGrounds } from "./standing-grounds.ts";
import { externalEventKey, idempotencyKey, type StandingRows, scopeKey } from "./standing-rows.ts";

/** Why the unit cannot happen as things stand, or undefined. Changes nothing. */
export function checkUnit(prepared: PreparedUnit, standing: StandingRows): Refusal | undefined {
  const { unit, runs } = prepared;
  for (const run of runs) {
    const refusal = checkRun(run, standing);
    if (refusal !== undefined) return refusal;
  }
  return (
    checkRunCounts(prepared, standing) ??
    checkEffects(unit.effectClaims ?? [], standing) ??
    checkIdempotency(unit.idempotency, standing) ??
    checkExternalEvents(unit.externalEvents ?? [], standing) ??
    checkAnnotations(prepared, standing) ??
    checkQueues(unit, standing) ??
    checkTapes(unit, standing) ??
    checkReviews(unit, standing) ??
    checkDocuments(unit, standing) ??
    checkDeletions(unit, standing) ??
    checkGrounds(unit, standing)
  );
}

function checkRun({ write, columns }: PreparedRun, standing: StandingRows): Refusal | undefined {
  const { runId, expectedVersion, heldBy, dedupScope } = write;
  const found = standing.runs.get(runId)?.row;
  // Another tenant's run does not exist for this one.
  const run = found?.tenant === columns.tenant ? found : undefined;
  const version = run?.version ?? 0;
  if (version !== expectedVersion || (found !== undefined && run === undefined)) {
    return { type: "version", runId, version };
  }
  if (heldBy !== undefined && run?.lease_owner !== heldBy) return { type: "lease", runId };
  if (expectedVersion > 0 || dedupScope === undefined) return undefined;
  const active = standing.active.get(scopeKey(columns.tenant, columns.workflow_id, dedupScope));
  return active === undefined ? undefined : { type: "active", runId: active };
}

function checkEffects(claims: readonly EffectClaim[], standing: StandingRows): Refusal | undefined {
  for (const { effectId } of claims) {
    const claimed = standing.effects.get(effectId);
    if (claimed !== undefined) return { type: "effect", record: toEffectRecord(claimed.row) };
  }
  return undefined;
}

function checkIdempotency(outcome: IdempotencyOutcome | undefined, standing: StandingRows): Refusal | undefined {
  if (outcome === undefined) return undefined;
  const row = standing.idempotency.get(idempotencyKey(outcome))?.row;
  if (row === undefined || givesWay(row, outcome)) return undefined;
  return { type: "idempotency", record: toIdempotencyRecord(row) };
}

function checkExternalEvents(writes: readonly ExternalEventWrite[], standing: StandingRows): Refusal | undefined {
  for (const write of writes) {
    const row = standing.externalEvents.get(externalEventKey(write.type === "put" ? write.event : write.key))?.row;
    const fits = write.type === "put" ? row === undefined || hasExpired(row, write.nowMs) : row?.state === "held";
    if (!fits) return { type: "external-event", ...(row === undefined ? {} : { record: toExternalEvent(row) }) };
  }
  return undefined;
}
