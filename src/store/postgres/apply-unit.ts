import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { CountChanges } from "../port/creation-limits.ts";
import type { ExternalEventWrite } from "../port/gates.ts";
import type { QueueItemRecord, QueueWrite } from "../port/judgments.ts";
import type { Unit } from "../port/store.ts";
import { annotationRow } from "../rows/annotation-rows.ts";
import { freshItemRow, reviewRows } from "../rows/queue-rows.ts";
import { auditRow, type ChainHead, extendChain } from "../rows/rows.ts";
import type { auditLog } from "../schema/audit.ts";
import { documents } from "../schema/documents.ts";
import { externalEvents } from "../schema/gates.ts";
import type { AnnotationChangesTable } from "../schema/judgments.ts";
import { queueItems, queues } from "../schema/queues.ts";
import { reviewSessions } from "../schema/reviews.ts";
import { effects } from "../schema/runs.ts";
import type { Row } from "../schema/table.ts";
import { tapeSidecars, tapes } from "../schema/tapes.ts";
import type { PreparedRun, PreparedUnit } from "../units/prepare-unit.ts";
import type { LockedRows } from "./current-rows.ts";

/** Additions of the accepted units of a batch, besides the rows that they changed in `LockedRows`. */
export interface Accepted {
  readonly units: PreparedUnit[];
  readonly audit: Row<typeof auditLog>[];
  readonly history: AnnotationChangesTable[];
  /** Whether some run is free to be claimed after its write. */
  work: boolean;
}

/**
 * Lets a unit happen in memory. Throws when its audit entries cannot be hashed; nothing has changed then, so that the rest of the batch
 * goes on.
 */
export function applyUnit(prepared: PreparedUnit, counts: CountChanges, current: LockedRows, accepted: Accepted): void {
  const { unit, runs, idempotency } = prepared;
  const { tenant } = unit;
  if (unit.audit?.length) accepted.audit.push(...extendAudit(tenant, unit.audit, current));
  applyCounts(unit, counts, current);
  for (const run of runs) applyRun(run, current);
  for (const claim of unit.effectClaims ?? []) {
    current.effects.put(effects.toRow({ ...claim, tenant, state: "claimed" }));
  }
  for (const { effectId, state, outcome, atMs } of unit.effectOutcomes ?? []) {
    const effect = current.effects.get(effectId);
    if (effect?.tenant !== tenant || effect.state !== "claimed") continue;
    current.effects.put({ ...effect, state, outcome, finished_at: atMs });
  }
  if (idempotency !== undefined) current.outcomes.put(idempotency);
  for (const write of unit.externalEvents ?? []) applyExternalEvent(write, current);
  applyAnnotations(prepared, current, accepted);
  for (const write of unit.queues ?? []) applyQueue(write, current);
  for (const write of unit.tapes ?? []) {
    if (write.type === "import") current.tapes.put(tapes.toRow(write.tape));
    else current.sidecars.put(tapeSidecars.toRow({ ...write.sidecar, tenant: write.tenant }));
  }
  for (const write of unit.reviews ?? []) {
    if (write.type === "round") current.reviews.put(reviewSessions.toRow(write.session));
  }
  for (const write of unit.documents ?? []) {
    if ("id" in write || (write.type === "keep" && current.documentRevision(write.document) > 0)) continue;
    current.documents.put(documents.toRow(write.document));
  }
  accepted.units.push(prepared);
}

function extendAudit(tenant: string, drafts: NonNullable<Unit["audit"]>, current: LockedRows): Accepted["audit"] {
  const before: ChainHead | undefined = current.heads.get(tenant);
  const { entries, head } = extendChain(before, drafts);
  current.heads.put({ tenant, ...head });
  return entries.map((entry) => auditRow(tenant, entry));
}

function applyCounts({ tenant, cancelledFamilies = [] }: Unit, counts: CountChanges, current: LockedRows): void {
  const { active, descendants } = counts;
  if (active !== 0) current.activeChanges.set(tenant, (current.activeChanges.get(tenant) ?? 0) + active);
  const familyOf = (root_run_id: string) =>
    current.families.get(root_run_id) ?? { root_run_id, tenant, descendants: 0, cancelled_at: null };
  for (const [rootRunId, added] of descendants) {
    const family = familyOf(rootRunId);
    current.families.put({ ...family, descendants: family.descendants + added });
  }
  for (const { rootRunId, atMs } of cancelledFamilies) {
    const family = familyOf(rootRunId);
    if (family.tenant === tenant) current.families.put({ ...family, cancelled_at: family.cancelled_at ?? atMs });
  }
}

function applyRun({ write, row }: PreparedRun, current: LockedRows): void {
  const before = current.runs.get(row.run_id);
  const ended = isTerminal(row.status);
  const scope = before === undefined ? (write.dedupScope ?? null) : before.dedup_scope;
  if (scope !== null) current.moveScope(row, scope, ended);
  const { lease_owner, lease_until } = write.lease === undefined && before !== undefined ? before : row;
  current.runs.put({ ...row, dedup_scope: ended ? null : scope, lease_owner, lease_until });
}

function applyExternalEvent(write: ExternalEventWrite, current: LockedRows): void {
  if (write.type === "put") return void current.externalEvents.put(externalEvents.toRow(write.event));
  const held = current.externalEvent(write.key);
  const { answer, expiresAtMs: expires_at } = write;
  if (held !== undefined) {
    current.externalEvents.put({ ...held, state: "delivered", payload: "{}", answer, expires_at });
  }
}

/** Also the history, whose place is that of the last audit entry of the unit. */
function applyAnnotations({ unit, annotations }: PreparedUnit, current: LockedRows, { history }: Accepted): void {
  const { tenant } = unit;
  const seq = current.heads.get(tenant)?.seq ?? 0;
  let n = 0;
  for (const { after, changes } of annotations) {
    current.annotations.put(annotationRow(after));
    for (const change of changes) history.push({ tenant, seq, n: n++, annotation_id: after.annotationId, change });
  }
}

function applyQueue(write: QueueWrite, current: LockedRows): void {
  if (write.type === "queue") current.putQueue(queues.toRow(write.queue));
  else if (write.type === "item") current.putItem(queueItems.toRow(write.item), reviewRows(write.item));
  else for (const item of write.items) fill(item, current);
}

/** Passed over where the queue has the subject, and where the run was deleted since it was found. */
function fill(item: QueueItemRecord, current: LockedRows): void {
  const row = freshItemRow(item);
  const isThere = current.run(item.runId)?.tenant === item.tenant;
  if (isThere && current.itemAbout(item.queueId, item.subject) === undefined) current.putItem(row, []);
}
