import type { Kysely } from "kysely";
import type { Store } from "../store.ts";
import * as audit from "./audit.ts";
import { nextDeliveryAtMs } from "./claim-deliveries.ts";
import * as deliveries from "./deliveries.ts";
import * as externalEvents from "./external-events.ts";
import { gateSummary } from "./gate-summary.ts";
import * as idempotency from "./idempotency.ts";
import { purge } from "./purge.ts";
import * as interrupts from "./read-interrupts.ts";
import * as keys from "./read-keys.ts";
import * as runs from "./read-runs.ts";
import * as workflows from "./read-workflows.ts";
import * as side from "./side-resources.ts";
import type { Tables } from "./tables.ts";
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
    listRuns: (visible, query) => runs.listRuns(read, visible, query),
    allRunIds: (after, limit) => runs.allRunIds(read, after, limit),
    runRow: (runId) => runs.runRow(read, runId),
    countRuns: () => runs.countRuns(read),
    nextWakeAtMs: (nowMs, engineVersion) => runs.nextWakeAtMs(read, nowMs, engineVersion),

    readWorkflow: (tenant, workflowId) => workflows.readWorkflow(read, tenant, workflowId),
    readWorkflowByHash: (hash) => workflows.readWorkflowByHash(read, hash),
    listWorkflows: (tenant, after, limit) => workflows.listWorkflows(read, tenant, after, limit),

    findKey: (hash) => keys.findKey(read, hash),
    listKeys: (visible) => keys.listKeys(read, visible),
    customRoles: (tenant, workspace) => keys.customRoles(read, tenant, workspace),
    hasKeys: () => keys.hasKeys(read),
    membershipOf: (visible, principal) => keys.membershipOf(read, visible, principal),

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
    redeliver: (visible, which, nowMs) => deliveries.redeliver(write, visible, which, nowMs),

    readAudit: (tenant, fromSeq, toSeq, limit) => audit.readAudit(read, tenant, fromSeq, toSeq, limit),
    auditHead: (tenant) => audit.auditHead(read, tenant),
    readCheckpoints: (tenant, fromSeq, toSeq) => audit.readCheckpoints(read, tenant, fromSeq, toSeq),
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
