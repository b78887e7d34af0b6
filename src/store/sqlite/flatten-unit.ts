import { wakeAtMs } from "../../protocol/runs/due-times.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { ArtifactWrite, IdempotencyOutcome, KeyWrite, RunWrite, Unit, WorkflowWrite } from "../port/store.ts";
import { type EventTexts, eventText } from "../rows/event-texts.ts";
import { requireChain } from "../rows/grounds.ts";
import { changedRows } from "../rows/interrupt-rows.ts";
import { lastChangeMs } from "../rows/last-change.ts";
import { runFacts } from "../rows/run-facts.ts";
import { flattenAnnotations } from "./flatten-annotations.ts";
import { flattenDeletions } from "./flatten-deletions.ts";
import { flattenDocuments } from "./flatten-documents.ts";
import { flattenGates, flattenInterrupts } from "./flatten-gates.ts";
import { flattenQueues } from "./flatten-queues.ts";
import { flattenReviews } from "./flatten-reviews.ts";
import { flattenTapes } from "./flatten-tapes.ts";
import type { FlatUnit, IdempotencyCheck, RunCheck, Write } from "./operations.ts";

/** Derives the rows of a unit. Throws when the unit contradicts itself, which is a mistake of the caller. */
export function flattenUnit(unit: Unit, texts?: EventTexts): FlatUnit {
  requireChain(unit);
  const { tenant, idempotency, audit = [] } = unit;
  const writes: Write[] = [];
  const runs = (unit.runs ?? []).map((write) => flattenRun(write, writes, texts));
  for (const claim of unit.effectClaims ?? []) {
    const { effectId, runId, nodeId, ordinal, providerKey, claimedBy, atMs, expiresAtMs } = claim;
    const values = [effectId, tenant, runId, nodeId, ordinal, providerKey, claimedBy, atMs, expiresAtMs];
    writes.push(["insertEffect", values]);
  }
  for (const { effectId, state, outcome, atMs } of unit.effectOutcomes ?? []) {
    writes.push(["finishEffect", [state, outcome, atMs, effectId, tenant]]);
  }
  for (const workflow of unit.workflows ?? []) flattenWorkflow(workflow, writes);
  for (const artifact of unit.artifacts ?? []) flattenArtifact(tenant, artifact, writes);
  for (const key of unit.keys ?? []) flattenKey(tenant, key, writes);
  for (const binding of unit.roles ?? []) {
    const { workspace = "", principal, roles, groups } = binding;
    const who = [binding.tenant, workspace, principal];
    writes.push([roles === undefined ? "keepRoles" : "putRoles", [...who, JSON.stringify(roles ?? [])]]);
    if (groups !== undefined) writes.push(["setGroups", [JSON.stringify(groups), ...who]]);
  }
  const externalEvents = flattenGates(unit, writes);
  const judged = flattenAnnotations(unit, writes);
  const queues = flattenQueues(unit.queues, writes);
  const tapes = flattenTapes(unit.tapes, writes);
  const reviews = flattenReviews(unit.reviews, writes);
  const documents = flattenDocuments(unit.documents, writes);
  const deletions = flattenDeletions(tenant, unit.deletions, writes);
  if (idempotency !== undefined) {
    const { operation, key, digest, state, response, expiresAtMs } = idempotency;
    const answer = [response.status, JSON.stringify(response.headers), response.body];
    writes.push(["putIdempotency", [idempotency.tenant, operation, key, digest, state, ...answer, expiresAtMs]]);
  }
  return {
    tenant,
    runs,
    effectIds: (unit.effectClaims ?? []).map((claim) => claim.effectId),
    ...(idempotency === undefined ? {} : { idempotency: idempotencyCheck(idempotency) }),
    externalEvents,
    ...judged,
    queues,
    tapes,
    reviews,
    documents,
    deletions,
    grounds: unit.grounds ?? [],
    ...(unit.creationLimits === undefined ? {} : { creationLimits: unit.creationLimits }),
    cancelledFamilies: unit.cancelledFamilies ?? [],
    writes,
    ...(audit.length === 0 ? {} : { audit: JSON.stringify(audit) }),
  };
}

function flattenRun(write: RunWrite, writes: Write[], texts: EventTexts | undefined): RunCheck {
  const { runId, expectedVersion, events, run, heldBy, lease, dedupScope } = write;
  checkSequences(write);
  const wakeAt = wakeAtMs(run) ?? null;
  const state = JSON.stringify(run);
  const updatedAt = lastChangeMs(run);
  const { agent_id, intervened } = runFacts(run);
  const rootRunId = run.parent?.rootRunId ?? null;
  const holder = lease === undefined || lease === "release" ? [null, null] : [lease.owner, lease.untilMs];
  const ended = isTerminal(run.status);

  if (expectedVersion === 0) {
    const { workflowId, workflowHash, owner, status, version, engineVersion } = run;
    const what = [runId, owner.tenant, owner.workspace ?? null, workflowId, workflowHash, status, version];
    const when = [Date.parse(run.startedAt), updatedAt, agent_id, intervened, rootRunId];
    const scope = ended ? null : (dedupScope ?? null);
    writes.push(["insertRun", [...what, engineVersion, state, ...when, scope, wakeAt, ...holder]]);
  } else {
    const { status, version, engineVersion } = run;
    const values = [status, version, engineVersion, state, updatedAt, agent_id, intervened, wakeAt];
    if (lease === undefined) writes.push(["updateRun", [...values, runId]]);
    else writes.push(["updateRunAndLease", [...values, ...holder, runId]]);
  }
  for (const event of events) {
    const { body, sealed } = texts?.get(event) ?? eventText(event);
    writes.push(["insertEvent", [runId, event.sequence, event.type, body, sealed]]);
  }
  flattenInterrupts(changedRows(write), writes);
  return {
    runId,
    expectedVersion,
    ...(heldBy === undefined ? {} : { heldBy }),
    ...(dedupScope === undefined || expectedVersion > 0
      ? {}
      : { dedup: { workflowId: run.workflowId, scope: dedupScope } }),
    status: run.status,
    rootRunId,
    appends: events.length > 0,
    wakes: wakeAt !== null,
    leased: lease === undefined && expectedVersion > 0 ? "as before" : holder[0] !== null,
  };
}

function checkSequences({ runId, expectedVersion, events, run }: RunWrite): void {
  const gap = events.findIndex((event, i) => event.sequence !== expectedVersion + i || event.runId !== runId);
  if (gap >= 0) throw new Error(`event ${gap} of a write to ${runId} does not follow version ${expectedVersion}`);
  if (run.runId !== runId || run.version !== expectedVersion + events.length) {
    throw new Error(`the run written to ${runId} is not the fold of its events`);
  }
}

function idempotencyCheck({ tenant, operation, key, nowMs, leaseOwner }: IdempotencyOutcome): IdempotencyCheck {
  return { tenant, operation, key, nowMs, ...(leaseOwner === undefined ? {} : { leaseOwner }) };
}

function flattenWorkflow({ tenant, workflowId, hash, definition, atMs }: WorkflowWrite, writes: Write[]): void {
  writes.push(["insertWorkflow", [hash, workflowId, definition, atMs]]);
  writes.push(["putWorkflowHead", [tenant, workflowId, hash, atMs]]);
}

function flattenArtifact(tenant: string, artifact: ArtifactWrite, writes: Write[]): void {
  const { runId, artifactId, artifactType, contentType, atMs } = artifact;
  // A message to another thread carries the whole buffer that an array is a part of, however large.
  const body = artifact.body.length === artifact.body.buffer.byteLength ? artifact.body : new Uint8Array(artifact.body);
  writes.push(["putArtifact", [runId, artifactId, tenant, artifactType, contentType, body, atMs]]);
}

function flattenKey(tenant: string, write: KeyWrite, writes: Write[]): void {
  if (write.type === "revoke") {
    writes.push(["revokeKey", [write.atMs, write.keyId, tenant]]);
  } else if (write.type === "used") {
    writes.push(["touchKey", [write.atMs, write.keyId]]);
  } else {
    const { keyId, hash, workspace = null, principal, kind, scopes, label = null, createdAtMs } = write.key;
    const who = [write.key.tenant, workspace, principal, kind, JSON.stringify(scopes), label];
    writes.push(["putKey", [keyId, hash, ...who, createdAtMs, write.key.expiresAtMs ?? null]]);
  }
}
