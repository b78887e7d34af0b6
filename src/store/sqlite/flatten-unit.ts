import type { AttemptOutcome, ExternalEventWrite, WebhookWrite } from "../port/gates.ts";
import type { QueueItemRecord, QueueWrite } from "../port/judgments.ts";
import type { ReviewWrite } from "../port/reviews.ts";
import type { ArtifactWrite, KeyWrite, RoleBinding, Unit } from "../port/store.ts";
import { annotationRow, textRow } from "../rows/annotation-rows.ts";
import { tallyChanges } from "../rows/feedback-tallies.ts";
import { deliveryRow, type InterruptChanges } from "../rows/interrupt-rows.ts";
import { freshItemRow, passedBy, reviewRows } from "../rows/queue-rows.ts";
import { finishedColumns, keyRow } from "../rows/rows.ts";
import { documents } from "../schema/documents.ts";
import { externalEvents } from "../schema/gates.ts";
import { roleBindings, roleDefinitions } from "../schema/identity.ts";
import { queueItems, queues } from "../schema/queues.ts";
import { reviewRounds, reviewSessions } from "../schema/reviews.ts";
import { artifacts, effects, runTombstones } from "../schema/runs.ts";
import { tapeSidecars, tapes } from "../schema/tapes.ts";
import { webhooks } from "../schema/webhooks.ts";
import { workflowHeads, workflows } from "../schema/workflows.ts";
import type { AnnotationStep } from "../units/annotation-steps.ts";
import { type EventTexts, type PreparedRun, prepareUnit, topicsOf } from "../units/prepare-unit.ts";
import type { SqliteValue } from "./open-database.ts";
import type { FlatUnit, Operation, Write } from "./operations.ts";
import { type RowFor, type RowStatementName, valuesOf } from "./row-statements.ts";
import { RUN_DELETES, type StatementName } from "./statements.ts";

/** The writes of a unit, in order. */
class Writes {
  readonly list: Write[] = [];

  row<N extends RowStatementName>(name: N, row: RowFor<N>): void {
    this.list.push([name, valuesOf(name, row)]);
  }

  add(name: StatementName, ...values: SqliteValue[]): void {
    this.list.push([name, values]);
  }
}

/** Derives the rows of a unit. Throws when the unit contradicts itself, which is a mistake of the caller. */
export function flattenUnit(unit: Unit, texts?: EventTexts): FlatUnit {
  const { checks, runs, annotations: steps, idempotency } = prepareUnit(unit, texts);
  const { tenant, audit = [] } = unit;
  const writes = new Writes();
  for (const run of runs) flattenRun(run, writes);
  for (const claim of unit.effectClaims ?? []) {
    writes.row("insertEffect", effects.toRow({ ...claim, tenant, state: "claimed" }));
  }
  for (const { effectId, state, outcome, atMs } of unit.effectOutcomes ?? []) {
    writes.add("finishEffect", state, outcome, atMs, effectId, tenant);
  }
  for (const workflow of unit.workflows ?? []) {
    writes.row("insertWorkflow", workflows.toRow(workflow));
    writes.row("putWorkflowHead", workflowHeads.toRow(workflow));
  }
  for (const artifact of unit.artifacts ?? []) flattenArtifact(tenant, artifact, writes);
  for (const key of unit.keys ?? []) flattenKey(tenant, key, writes);
  for (const binding of unit.roles ?? []) flattenBinding(binding, writes);
  for (const role of unit.roleDefinitions ?? []) {
    const { workspace = "" } = role;
    if (role.type === "delete") writes.add("deleteRoleDefinition", tenant, workspace, role.role);
    else writes.row("putRoleDefinition", roleDefinitions.toRow({ ...role, tenant, workspace }));
  }
  for (const webhook of unit.webhooks ?? []) flattenWebhook(tenant, webhook, writes);
  for (const delivery of unit.deliveries ?? []) writes.row("insertDelivery", deliveryRow(tenant, delivery));
  for (const event of unit.externalEvents ?? []) flattenExternalEvent(event, writes);
  flattenAnnotations(steps, writes);
  for (const queue of unit.queues ?? []) flattenQueue(queue, writes);
  for (const write of unit.tapes ?? []) {
    if (write.type === "import") writes.row("insertTape", tapes.toRow(write.tape));
    else writes.row("putSidecar", tapeSidecars.toRow({ ...write.sidecar, tenant: write.tenant }));
  }
  for (const review of unit.reviews ?? []) flattenReview(review, writes);
  for (const write of unit.documents ?? []) {
    if (write.type === "delete") writes.add("deleteDocument", write.id.tenant, write.id.kind, write.id.key);
    else if (write.type !== "stands")
      writes.row(write.type === "put" ? "putDocument" : "keepDocument", documents.toRow(write.document));
  }
  for (const deletion of unit.deletions ?? []) {
    for (const name of Object.keys(RUN_DELETES) as StatementName[]) writes.add(name, deletion.runId, tenant);
    writes.row("insertTombstone", runTombstones.toRow(deletion));
  }
  if (idempotency !== undefined) writes.row("putIdempotency", idempotency);
  return {
    checks,
    cancelledFamilies: unit.cancelledFamilies ?? [],
    writes: writes.list,
    ...(audit.length === 0 ? {} : { audit: JSON.stringify(audit) }),
    history: steps.flatMap(({ after, changes }) => changes.map((change) => [after.annotationId, change] as const)),
    topics: topicsOf(unit),
  };
}

function flattenRun({ write, row, events, interrupts }: PreparedRun, writes: Writes): void {
  if (write.expectedVersion === 0) writes.row("insertRun", row);
  else writes.row(write.lease === undefined ? "updateRun" : "updateRunAndLease", row);
  for (const event of events) writes.row("insertEvent", event);
  flattenInterrupts(interrupts, writes);
}

function flattenInterrupts({ interrupts, voted, dropped }: InterruptChanges, writes: Writes): void {
  for (const row of interrupts) writes.row("putInterrupt", row);
  for (const { interruptId, votes } of voted) {
    writes.add("deleteVotes", interruptId);
    for (const vote of votes) writes.row("insertVote", vote);
  }
  if (dropped === undefined) return;
  writes.add("deleteVotesOfRun", dropped.runId, dropped.tenant);
  writes.add("deleteInterrupts", dropped.runId, dropped.tenant);
}

function flattenArtifact(tenant: string, artifact: ArtifactWrite, writes: Writes): void {
  // A message to another thread carries the whole buffer that an array is a part of, however large.
  const body = artifact.body.length === artifact.body.buffer.byteLength ? artifact.body : new Uint8Array(artifact.body);
  writes.row("putArtifact", artifacts.toRow({ ...artifact, tenant, body }));
}

function flattenKey(tenant: string, write: KeyWrite, writes: Writes): void {
  if (write.type === "revoke") writes.add("revokeKey", write.atMs, write.keyId, tenant);
  else if (write.type === "used") writes.add("touchKey", write.atMs, write.keyId);
  else writes.row("putKey", keyRow(write.key));
}

function flattenBinding({ workspace = "", roles, groups, ...binding }: RoleBinding, writes: Writes): void {
  const row = roleBindings.toRow({ ...binding, workspace, roles: roles ?? [], groups: groups ?? [] });
  if (roles !== undefined) writes.row("putRoles", row);
  if (groups !== undefined) writes.row("putGroups", row);
}

function flattenWebhook(tenant: string, write: WebhookWrite, writes: Writes): void {
  if (write.type === "put") return void writes.row("putWebhook", webhooks.toRow(write.webhook));
  if (write.type === "enable") return void writes.add("enableWebhook", write.webhookId, tenant);
  writes.add("deleteUndelivered", write.webhookId, tenant);
  writes.add("deleteWebhook", write.webhookId, tenant);
}

function flattenExternalEvent(write: ExternalEventWrite, writes: Writes): void {
  if (write.type === "put") return void writes.row("putExternalEvent", externalEvents.toRow(write.event));
  const { tenant, workspace, correlationId, eventId } = write.key;
  writes.add("deliverExternalEvent", write.answer, write.expiresAtMs, tenant, workspace, correlationId, eventId);
}

/** Annotations, and what is counted of them. Their history is written when its place is known. */
function flattenAnnotations(steps: readonly AnnotationStep[], writes: Writes): void {
  if (steps.length === 0) return;
  for (const { before, after } of steps) {
    const row = annotationRow(after);
    writes.row(before === undefined ? "insertAnnotation" : "changeAnnotation", row);
    const text = before === undefined ? textRow(row) : undefined;
    if (text !== undefined) writes.row("insertAnnotationText", text);
  }
  const { feedback, labels } = tallyChanges(steps);
  for (const row of feedback) writes.row("addFeedback", row);
  for (const row of labels) writes.row("addLabel", row);
}

function flattenQueue(write: QueueWrite, writes: Writes): void {
  if (write.type === "queue") return void writes.row("putQueue", queues.toRow(write.queue));
  if (write.type === "fill") {
    for (const item of write.items) {
      writes.row("fillItem", freshItemRow(item));
      moveMarks(item, writes);
    }
    return;
  }
  const { item } = write;
  writes.row("putItem", queueItems.toRow(item));
  if (item.revision > 1) writes.add("deleteReviews", item.itemId);
  for (const row of reviewRows(item)) writes.row("insertReview", row);
  moveMarks(item, writes);
}

function moveMarks(item: QueueItemRecord, writes: Writes): void {
  const { itemId, queueId, state, position } = item;
  if (state === "open") writes.add("lowerMarks", queueId, position, itemId);
  for (const reviewer of passedBy(item)) writes.add("raiseMark", queueId, reviewer);
}

function flattenReview(write: ReviewWrite, writes: Writes): void {
  if (write.type === "delete") {
    writes.add("deleteRounds", write.sessionId);
    writes.add("deleteReview", write.sessionId);
    return;
  }
  const { tenant } = write.session;
  writes.row("putReview", reviewSessions.toRow(write.session));
  for (const round of write.rounds) writes.row("insertRound", reviewRounds.toRow({ ...round, tenant }));
}

/** The outcome of an attempt. Nothing is written unless its owner still holds the delivery. */
export function flattenAttempt(attempt: AttemptOutcome): Extract<Operation, { kind: "guarded" }> {
  const { deliveryId, owner, webhook } = attempt;
  const { state, attempts, next_at, last_status, last_error, finished_at } = finishedColumns(attempt);
  const rest: Write[] = [];
  if (webhook !== undefined) {
    const { webhookId, failures, failingSinceMs = null, circuitUntilMs = null, disabledAtMs = null } = webhook;
    rest.push(["setWebhookHealth", [failures, failingSinceMs, circuitUntilMs, disabledAtMs, webhookId]]);
  }
  const values = [state, attempts, next_at, last_status, last_error, finished_at, deliveryId, owner];
  return { kind: "guarded", first: ["finishDelivery", values], rest };
}
