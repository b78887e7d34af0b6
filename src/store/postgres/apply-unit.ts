import type { ExternalEventWrite } from "../port/gates.ts";
import type { Change, EffectClaim, Unit } from "../port/store.ts";
import { type ChainHead, extendChain } from "../rows/audit-chain.ts";
import { externalEventRow } from "../rows/gate-rows.ts";
import type { AnnotationChangesTable } from "../schema/judgment-tables.ts";
import type { AuditLogTable, EffectsTable } from "../schema/tables.ts";
import { applyAnnotations } from "./apply-annotations.ts";
import { applyDocuments } from "./apply-documents.ts";
import { applyQueues } from "./apply-queues.ts";
import { applyReviews } from "./apply-reviews.ts";
import { applyTapes } from "./apply-tapes.ts";
import { hasEnded, type PreparedRun, type PreparedUnit } from "./prepare-unit.ts";
import { applyRunCounts } from "./run-counts.ts";
import { change } from "./standing.ts";
import { externalEventKey, idempotencyKey, type StandingRows, scopeKey } from "./standing-rows.ts";

/** What the accepted units of a batch add, beside the rows they changed in `StandingRows`. */
export interface Accepted {
  readonly units: PreparedUnit[];
  readonly audit: AuditLogTable[];
  readonly history: AnnotationChangesTable[];
  /** Whether some run is free to be claimed after its write. */
  work: boolean;
}

/**
 * Lets a unit happen in memory. Throws when its audit entries cannot be hashed; nothing has changed then, so that the
 * rest of the batch goes on.
 */
export function applyUnit(prepared: PreparedUnit, standing: StandingRows, accepted: Accepted): void {
  const { unit, runs, idempotency } = prepared;
  if (unit.audit?.length) accepted.audit.push(...extendAudit(unit.tenant, unit.audit, standing));
  applyRunCounts(prepared, standing);
  for (const run of runs) applyRun(run, standing, accepted);
  for (const claim of unit.effectClaims ?? []) {
    change(standing.effects, claim.effectId, effectRow(unit.tenant, claim));
  }
  for (const { effectId, state, outcome, atMs } of unit.effectOutcomes ?? []) {
    const effect = standing.effects.get(effectId)?.row;
    if (effect?.tenant !== unit.tenant || effect.state !== "claimed") continue;
    change(standing.effects, effectId, { ...effect, state, outcome, finished_at: atMs });
  }
  if (unit.idempotency && idempotency) change(standing.idempotency, idempotencyKey(unit.idempotency), idempotency);
  for (const write of unit.externalEvents ?? []) applyExternalEvent(write, standing);
  accepted.history.push(...applyAnnotations(prepared, standing));
  applyQueues(unit.queues ?? [], standing);
  applyTapes(unit.tapes ?? [], standing);
  applyReviews(unit.reviews ?? [], standing);
  applyDocuments(unit.documents ?? [], standing);
  accepted.units.push(prepared);
}

function applyExternalEvent(write: ExternalEventWrite, { externalEvents }: StandingRows): void {
  if (write.type === "put") {
    change(externalEvents, externalEventKey(write.event), externalEventRow(write.event));
    return;
  }
  const key = externalEventKey(write.key);
  const held = externalEvents.get(key)?.row;
  if (held === undefined) return;
  const { answer, expiresAtMs: expires_at } = write;
  change(externalEvents, key, { ...held, state: "delivered", payload: "{}", answer, expires_at });
}

function extendAudit(tenant: string, drafts: NonNullable<Unit["audit"]>, standing: StandingRows): AuditLogTable[] {
  const before: ChainHead | undefined = standing.heads.get(tenant)?.row;
  const { entries, head } = extendChain(before, drafts);
  const rows = entries.map((entry) => ({
    tenant,
    seq: entry.atSequence,
    occurred_at: entry.occurredAt,
    actor: entry.actor,
    action: entry.action,
    target: entry.target,
    details: JSON.stringify(entry.details),
    prev_hash: entry.prevHash,
  }));
  change(standing.heads, tenant, head);
  return rows;
}

function applyRun(prepared: PreparedRun, standing: StandingRows, accepted: Accepted): void {
  const { write, columns } = prepared;
  const { run_id, tenant, version, status, workflow_id } = columns;
  const before = standing.runs.get(run_id)?.row;
  const lease =
    write.lease === undefined
      ? { lease_owner: before?.lease_owner ?? null, lease_until: before?.lease_until ?? null }
      : write.lease === "release"
        ? { lease_owner: null, lease_until: null }
        : { lease_owner: write.lease.owner, lease_until: write.lease.untilMs };

  const scope = before === undefined ? (write.dedupScope ?? null) : before.dedup_scope;
  const ended = hasEnded(prepared);
  if (scope !== null) {
    const key = scopeKey(tenant, workflow_id, scope);
    if (ended) standing.active.delete(key);
    else standing.active.set(key, run_id);
  }
  const dedup_scope = ended ? null : scope;
  change(standing.runs, run_id, { run_id, tenant, version, status, workflow_id, dedup_scope, ...lease, columns });
  accepted.work ||= columns.wake_at !== null && lease.lease_owner === null;
}

function effectRow(tenant: string, claim: EffectClaim): EffectsTable {
  return {
    effect_id: claim.effectId,
    tenant,
    run_id: claim.runId,
    node_id: claim.nodeId,
    ordinal: claim.ordinal,
    provider_key: claim.providerKey,
    state: "claimed",
    claimed_by: claim.claimedBy,
    claimed_at: claim.atMs,
    outcome: null,
    finished_at: null,
    expires_at: claim.expiresAtMs,
  };
}

/** What listeners are told, or undefined when it concerns nobody. */
export function changeOf({ units, work }: Accepted): Change | undefined {
  const runIds = new Set(units.flatMap(({ runs }) => runs.filter(({ events }) => events.length > 0).map(runIdOf)));
  const some = (changes: (unit: Unit) => unknown) => units.some(({ unit }) => Boolean(changes(unit)));
  const keys = some(
    ({ roles, roleDefinitions, keys }) =>
      roles?.length || roleDefinitions?.length || keys?.some((write) => write.type !== "used"),
  );
  const webhooks = some((unit) => unit.webhooks?.length);
  const deliveries = some((unit) => unit.deliveries?.length);
  const annotations = some((unit) => unit.annotations?.length);
  for (const { unit } of units) for (const { runId } of unit.deletions ?? []) runIds.add(runId);
  const queues = some((unit) => unit.queues?.length || unit.deletions?.length);
  const topics = { work, keys, webhooks, deliveries, annotations, queues };
  return runIds.size > 0 || Object.values(topics).includes(true) ? { runIds: [...runIds], ...topics } : undefined;
}

function runIdOf({ write }: PreparedRun): string {
  return write.runId;
}
