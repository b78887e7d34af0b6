import type { Kysely } from "kysely";
import type { Store } from "../store.ts";
import * as audit from "./audit.ts";
import * as idempotency from "./idempotency.ts";
import * as keys from "./read-keys.ts";
import * as runs from "./read-runs.ts";
import * as workflows from "./read-workflows.ts";
import * as side from "./side-resources.ts";
import type { Tables } from "./tables.ts";

/** What an adapter adds: committing, claiming, telling, and its own end. It may replace a read that is hot. */
export type SharedStore = Omit<Store, "commit" | "claimRuns" | "renewLeases" | "onChange" | "ping" | "close">;

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
    purge: (nowMs) => side.purge(write, nowMs),
  };
}
