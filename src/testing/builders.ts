import { createHash, randomBytes } from "node:crypto";
import type { AuditDraft } from "../protocol/audit/audit.ts";
import { ENGINE_VERSION, EVENTS, type EventDraft, type RunEvent } from "../protocol/events.ts";
import { formatId, type IdPrefix, RANDOM_BYTES } from "../protocol/id.ts";
import { fold, type Parent, type Run } from "../protocol/runs/run.ts";
import { parse } from "../protocol/schema.ts";
import type {
  ArtifactWrite,
  EffectClaim,
  IdempotencyClaim,
  IdempotencyOutcome,
  KeyRecord,
  RunWrite,
  WorkflowWrite,
} from "../store/port/store.ts";

/** The instant at which tests take place. Nothing built here reads the clock. */
export const NOW = Date.parse("2027-03-01T12:00:00.000Z");
export const HOUR = 3_600_000;

export function newId(prefix: IdPrefix, atMs = NOW): string {
  return formatId(prefix, atMs, randomBytes(RANDOM_BYTES));
}

/** A tenant nobody else uses. */
export function newTenant(): string {
  return `tenant-${randomBytes(6).toString("hex")}`;
}

/** Some events of a run and the run after them. */
export interface Built {
  readonly events: readonly RunEvent[];
  readonly run: Run;
}

export interface StartedRun {
  readonly tenant: string;
  readonly workspace?: string;
  readonly runId?: string;
  readonly workflowId?: string;
  readonly engineVersion?: number;
  readonly atMs?: number;
  readonly inputs?: Readonly<Record<string, unknown>>;
  /** With sensitive inputs: what `inputs` really are. */
  readonly sealedInputs?: Readonly<Record<string, unknown>>;
  /** The run that dispatched it. */
  readonly parent?: Parent;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A run right after its creation: due at once, at version 1. */
export function startedRun({ tenant, workspace, atMs = NOW, inputs = {}, ...more }: StartedRun): Built {
  const workflowId = more.workflowId ?? "wf-greet";
  const payload = {
    workflowId,
    workflowHash: sha256(workflowId),
    inputs,
    defaults: {},
    transport: "rest" as const,
    engineVersion: String(more.engineVersion ?? ENGINE_VERSION),
    owner: { tenant, principal: "pat", ...(workspace === undefined ? {} : { workspace }) },
    limits: { nodeExecutions: 100 },
    ...(more.parent === undefined ? {} : parentOf(more.parent)),
    ...(more.metadata === undefined ? {} : { metadata: more.metadata }),
  };
  const sealed = more.sealedInputs === undefined ? {} : { sealed: { ...payload, inputs: more.sealedInputs } };
  return built(undefined, more.runId ?? newId("run", atMs), atMs, [{ type: "run.started", payload, ...sealed }]);
}

function parentOf({ runId, nodeId, depth, rootRunId }: Parent) {
  return { parentRunId: runId, parentNodeId: nodeId, depth, rootRunId };
}

/** What happens next; the result holds the new events only. */
export function next(before: Built, atMs: number, ...drafts: readonly EventDraft[]): Built {
  return built(before.run, before.run.runId, atMs, drafts);
}

export function nodeStarted(nodeId = "a"): EventDraft {
  return { type: "node.started", nodeId, payload: { nodeId, typeId: "core.noop", attempt: 0 } };
}

export function nodeSleeps(delayMs: number, nodeId = "a"): EventDraft {
  return { type: "assay.timer.set", nodeId, payload: { nodeId, delayMs } };
}

export function nodeCompleted(nodeId = "a"): EventDraft {
  return { type: "node.completed", nodeId, payload: { nodeId, outputs: { said: "hello" } } };
}

export function runCompleted(): EventDraft {
  return { type: "run.completed", payload: { outputs: {} } };
}

function built(from: Run | undefined, runId: string, atMs: number, drafts: readonly EventDraft[]): Built {
  const timestamp = new Date(atMs).toISOString();
  const events = drafts.map((draft, index): RunEvent => {
    const { payload } = EVENTS[draft.type];
    parse(payload, draft.payload, `${draft.type} payload`);
    if (draft.sealed !== undefined) parse(payload, draft.sealed, `${draft.type} sealed payload`);
    return { ...draft, eventId: newId("evt", atMs), runId, sequence: (from?.version ?? 0) + index, timestamp };
  });
  const run = fold(events, from);
  if (run === undefined) throw new Error("a run begins with run.started");
  return { events, run };
}

/** The write that appends what was built. */
export function runWrite({ events, run }: Built, more: Partial<RunWrite> = {}): RunWrite {
  return { runId: run.runId, expectedVersion: run.version - events.length, events, run, ...more };
}

export function auditDraft(action = "run.create", details: Readonly<Record<string, unknown>> = {}): AuditDraft {
  return { occurredAt: new Date(NOW).toISOString(), actor: "pat", action, target: "run", details };
}

const IDEMPOTENCY_KEY = { operation: "POST /v1/runs", key: "k-1" };

export function idempotencyClaim(tenant: string, more: Partial<IdempotencyClaim> = {}): IdempotencyClaim {
  return {
    ...IDEMPOTENCY_KEY,
    tenant,
    digest: sha256("body"),
    leaseOwner: "host-1",
    leaseUntilMs: NOW + 30_000,
    nowMs: NOW,
    expiresAtMs: NOW + 24 * HOUR,
    ...more,
  };
}

export function idempotencyOutcome(tenant: string, more: Partial<IdempotencyOutcome> = {}): IdempotencyOutcome {
  return {
    ...IDEMPOTENCY_KEY,
    tenant,
    digest: sha256("body"),
    state: "completed",
    response: { status: 201, headers: { "content-type": "application/json" }, body: '{"runId":"run-1"}' },
    nowMs: NOW,
    expiresAtMs: NOW + 24 * HOUR,
    ...more,
  };
}

export function effectClaim(runId: string, more: Partial<EffectClaim> = {}): EffectClaim {
  return {
    effectId: `${runId}/a/0`,
    runId,
    nodeId: "a",
    ordinal: 0,
    providerKey: "mail:4711",
    claimedBy: "worker-1",
    atMs: NOW,
    expiresAtMs: NOW + 24 * HOUR,
    ...more,
  };
}

export function workflowWrite(tenant: string, workflowId: string, title = workflowId, atMs = NOW): WorkflowWrite {
  // White space and key order as an author has them: the text comes back unchanged.
  const definition = `{ "workflowId": ${JSON.stringify(workflowId)},\n  "title": ${JSON.stringify(title)} }`;
  return { tenant, workflowId, hash: sha256(definition), definition, atMs };
}

export type NewKey = Omit<KeyRecord, "roles" | "groups" | "revokedAtMs" | "lastUsedAtMs">;

export function newKey(tenant: string, more: Partial<NewKey> = {}): NewKey {
  const keyId = newId("key");
  return {
    keyId,
    hash: sha256(keyId),
    tenant,
    principal: "pat",
    kind: "user",
    scopes: ["*"],
    createdAtMs: NOW,
    ...more,
  };
}

export function artifactWrite(runId: string, more: Partial<ArtifactWrite> = {}): ArtifactWrite {
  return {
    runId,
    artifactId: "report",
    artifactType: "document",
    contentType: "application/octet-stream",
    // Every byte there is, so that no encoding on the way goes unnoticed.
    body: Uint8Array.from({ length: 256 }, (_, byte) => byte),
    atMs: NOW,
    ...more,
  };
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
