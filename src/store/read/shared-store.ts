import type { Kysely } from "kysely";
import type { Store } from "../port/store.ts";
import type { Tables } from "../schema/tables.ts";
import * as changes from "./annotation-changes.ts";
import * as audit from "./audit.ts";
import { nextDeliveryAtMs } from "./claim-deliveries.ts";
import * as deletions from "./deletions.ts";
import * as deliveries from "./deliveries.ts";
import * as documents from "./documents.ts";
import * as ended from "./ended-runs.ts";
import * as externalEvents from "./external-events.ts";
import { feedbackSummary } from "./feedback-summary.ts";
import { gateSummary } from "./gate-summary.ts";
import * as idempotency from "./idempotency.ts";
import { purge } from "./purge.ts";
import * as queued from "./queued-times.ts";
import * as queues from "./queues.ts";
import * as annotations from "./read-annotations.ts";
import * as interrupts from "./read-interrupts.ts";
import * as keys from "./read-keys.ts";
import * as runs from "./read-runs.ts";
import * as workflows from "./read-workflows.ts";
import * as reviews from "./reviews.ts";
import * as heads from "./run-heads.ts";
import * as side from "./side-resources.ts";
import * as tapes from "./tapes.ts";
import * as webhooks from "./webhooks.ts";

/** What an adapter adds: committing, claiming, telling, and its own end. It may replace a read that is hot. */
export type SharedStore = Omit<
  Store,
  "commit" | "claimRuns" | "renewLeases" | "finishAttempt" | "onChange" | "ping" | "close"
>;

/**
 * Everything both databases do with the same statements. `write` may be another handle than `read`; every statement
 * given to it is complete in itself.
 */
export function sharedStore(read: Kysely<Tables>, write: Kysely<Tables>): SharedStore {
  return {
    readRun: (visible, runId) => runs.readRun(read, visible, runId),
    readEvents: (runId, fromSequence, limit) => runs.readEvents(read, runId, fromSequence, limit),
    logBytes: (runId, toSequence) => runs.logBytes(read, runId, toSequence),
    runOutlines: (tenant, runIds) => runs.runOutlines(read, tenant, runIds),
    readHead: (visible, runId) => heads.readHead(write, visible, runId),
    listRuns: (visible, query) => runs.listRuns(read, write, visible, query),
    stateBytes: (visible, query) => runs.stateBytes(read, visible, query),
    runIdBeyond: (visible, query) => runs.runIdBeyond(read, visible, query),
    allRunIds: (after, limit) => runs.allRunIds(read, after, limit),
    tenantOf: (runId) => runs.tenantOf(read, runId),
    runRow: (runId) => runs.runRow(read, runId),
    countRuns: () => runs.countRuns(read),
    activeDescendants: (visible, query) => runs.activeDescendants(read, write, visible, query),
    newestQueuedMs: () => queued.newestQueuedMs(read),
    runsAhead: (query) => queued.runsAhead(read, query),
    dueBeyond: (query) => heads.dueBeyond(read, query),
    countedRuns: () => runs.countedRuns(read),
    dueTenants: (query) => runs.dueTenants(read, query),
    nextWakeAtMs: (nowMs, engineVersion) => runs.nextWakeAtMs(read, nowMs, engineVersion),

    readWorkflow: (tenant, workflowId) => workflows.readWorkflow(read, tenant, workflowId),
    readWorkflowHash: (tenant, workflowId) => workflows.readWorkflowHash(read, tenant, workflowId),
    readWorkflowByHash: (hash) => workflows.readWorkflowByHash(read, hash),
    listWorkflows: (tenant, after, limit) => workflows.listWorkflows(read, tenant, after, limit),
    listWorkflowHeads: (tenant, after, limit) => workflows.listWorkflowHeads(read, tenant, after, limit),

    findKey: (hash) => keys.findKey(read, hash),
    listKeys: (visible, page) => keys.listKeys(read, visible, page),
    keysOf: (visible, principals) => keys.keysOf(read, visible, principals),
    keysByPrincipal: (visible, after, limit) => keys.keysByPrincipal(read, visible, after, limit),
    countWorkingKeys: (tenant, nowMs) => keys.countWorkingKeys(read, tenant, nowMs),
    hasOtherOwner: (tenant, principal, nowMs) => keys.hasOtherOwner(read, tenant, principal, nowMs),
    readKey: (visible, keyId) => keys.readKey(read, visible, keyId),
    customRoles: (tenant, workspace) => keys.customRoles(read, tenant, workspace),
    ownRoles: (tenant, workspace) => keys.ownRoles(read, tenant, workspace),
    hasKeys: () => keys.hasKeys(read),
    membershipOf: (visible, principal) => keys.membershipOf(read, visible, principal),
    membershipAnywhere: (tenant, principal) => keys.membershipAnywhere(read, tenant, principal),
    bindingsOf: (tenant, principals) => keys.bindingsOf(read, tenant, principals),

    openInterrupts: (visible, query) => interrupts.openInterrupts(read, visible, query),
    interruptsOfRuns: (visible, runIds) => interrupts.interruptsOfRuns(read, visible, runIds),
    readInterrupt: (visible, interruptId) => interrupts.readInterrupt(read, visible, interruptId),
    interruptsByCorrelation: (visible, query) => interrupts.interruptsByCorrelation(read, visible, query),
    interruptRows: (runId) => interrupts.interruptRows(read, runId),
    gateSummary: (visible, query) => gateSummary(read, visible, query),
    readExternalEvent: (key) => externalEvents.readExternalEvent(read, key),
    heldEvents: (held) => externalEvents.heldEvents(read, held),

    listWebhooks: (visible) => webhooks.listWebhooks(read, visible),
    readWebhook: (visible, webhookId) => webhooks.readWebhook(read, visible, webhookId),
    listDeliveries: (visible, query) => deliveries.listDeliveries(read, visible, query),
    claimDeliveries: (claim) => deliveries.claimDeliveries(write, read, claim),
    nextDeliveryAtMs: (nowMs) => nextDeliveryAtMs(read, nowMs),
    redeliver: (visible, which, nowMs) => deliveries.redeliver({ read, write }, visible, which, nowMs),

    readAnnotation: (visible, annotationId) => annotations.readAnnotation(read, visible, annotationId),
    annotationsById: (tenant, annotationIds) => annotations.annotationsById(read, tenant, annotationIds),
    annotationsOfRun: (runId, after, limit) => annotations.annotationsOfRun(read, runId, after, limit),
    listAnnotations: (visible, query) => annotations.listAnnotations(read, visible, query),
    annotationChanges: (tenant, after, limit) => changes.annotationChanges(read, tenant, after, limit),
    annotationHead: (tenant) => changes.annotationHead(read, tenant),
    changePlace: (tenant, annotationId, change) => changes.changePlace(read, tenant, annotationId, change),
    changePlaceAt: (tenant, createdAtMs) => changes.changePlaceAt(read, tenant, createdAtMs),
    findEvents: (runId, eventIds) => runs.findEvents(read, runId, eventIds),
    findEvent: (runId, eventId) => runs.findEvent(read, runId, eventId),
    feedbackSummary: (visible, query) => feedbackSummary(read, visible, query),
    feedbackRows: (runId) => annotations.feedbackRows(read, runId),
    readCursor: (name, tenant) => changes.readCursor(read, name, tenant),
    putCursor: (name, tenant, place) => changes.putCursor(write, name, tenant, place),
    tenantsBehind: (name) => changes.tenantsBehind(read, name),

    readQueue: (visible, queueId) => queues.readQueue(read, visible, queueId),
    listQueues: (visible, query) => queues.listQueues(read, visible, query),
    readQueueItem: (visible, queueId, itemId) => queues.readQueueItem(read, visible, queueId, itemId),
    queueItemsById: (tenant, itemIds) => queues.queueItemsById(read, tenant, itemIds),
    listQueueItems: (visible, query) => queues.listQueueItems(read, visible, query),
    freeQueueItems: (visible, query) => queues.freeQueueItems(read, visible, query),
    queueSubjects: (queueId, subjects) => queues.queueSubjects(read, queueId, subjects),
    queuesAfter: (queueId, limit) => queues.queuesAfter(read, queueId, limit),
    queueProgress: (queueId) => queues.queueProgress(read, queueId),
    countQueueItems: (queueId) => queues.countQueueItems(read, queueId),
    endedRuns: (visible, query) => ended.endedRuns(read, visible, query),

    readTombstone: (visible, runId) => deletions.readTombstone(read, visible, runId),
    deletionOf: (visible, runId) => deletions.deletionOf(read, write, visible, runId),
    runWorkflows: () => ended.runWorkflows(read),
    expiredRuns: (query) => ended.expiredRuns(read, query),

    readTape: (visible, runId) => tapes.readTape(read, visible, runId),
    listTapes: (visible, query) => tapes.listTapes(read, visible, query),
    readSidecar: (visible, runId) => tapes.readSidecar(read, visible, runId),
    bodiesHere: (visible, runId) => tapes.bodiesHere(read, visible, runId),

    readReview: (visible, sessionId) => reviews.readReview(read, visible, sessionId),
    listReviews: (visible, query) => reviews.listReviews(read, visible, query),
    latestReview: (visible, createdBy) => reviews.latestReview(read, visible, createdBy),
    reviewRounds: (tenant, sessionIds, after, limit) => reviews.reviewRounds(read, tenant, sessionIds, after, limit),
    claimReview: (visible, claim) => reviews.claimReview(write, read, visible, claim),
    renewReview: (sessionId, owner, untilMs) => reviews.renewReview(write, sessionId, owner, untilMs),
    readDocument: (id) => documents.readDocument(read, id),
    readDocuments: (tenant, kind, keys) => documents.readDocuments(read, tenant, kind, keys),
    listDocuments: (tenant, kind, query) => documents.listDocuments(read, tenant, kind, query),
    releaseReview: (sessionId, owner) => reviews.releaseReview(write, sessionId, owner),

    readAudit: (tenant, fromSeq, toSeq, limit) => audit.readAudit(read, tenant, fromSeq, toSeq, limit),
    auditHead: (tenant) => audit.auditHead(read, tenant),
    readCheckpoints: (tenant, fromSeq, toSeq, limit) => audit.readCheckpoints(read, tenant, fromSeq, toSeq, limit),
    tenantsWithCheckpointsAfter: (cursor) => audit.tenantsWithCheckpointsAfter(read, cursor),
    auditBacklog: () => audit.auditBacklog(read),
    putCheckpoint: (tenant, checkpoint) => audit.putCheckpoint(write, tenant, checkpoint),

    readIdempotency: (key, nowMs) => idempotency.readIdempotency(read, key, nowMs),
    claimIdempotency: (claim) => idempotency.claimIdempotency(write, read, claim),
    releaseIdempotency: (key, leaseOwner) => idempotency.releaseIdempotency(write, key, leaseOwner),
    readEffect: (effectId) => side.readEffect(read, effectId),
    readArtifact: (visible, runId, artifactId) => side.readArtifact(read, visible, runId, artifactId),
    hostSecret: (name, make) => side.hostSecret(write, read, name, make),
    purge: (nowMs) => purge(write, nowMs),
  };
}
