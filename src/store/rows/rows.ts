import type { Selectable } from "kysely";
import type { AuditEntry } from "../../protocol/audit/audit.ts";
import type { PrincipalKind } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { RunStatus } from "../../protocol/runs/run-status.ts";
import type { Membership } from "../port/gates.ts";
import type {
  Artifact,
  EffectRecord,
  IdempotencyRecord,
  KeyOutline,
  KeyRecord,
  RunRow,
  StoredBinding,
  StoredCheckpoint,
  StoredEvent,
  StoredWorkflow,
} from "../port/store.ts";
import type * as T from "../schema/tables.ts";

/** Rows as the two databases give them, turned into what the store returns. Nothing else reads a column by name. */

/** The one place that reads a state. Runs stored before there were gates know nothing of what gates brought. */
export function toRun({ state }: Pick<T.RunsTable, "state">): Run {
  const run = JSON.parse(state) as Run;
  return "interrupts" in run ? run : { ...(run as object as Run), interrupts: {}, children: {}, visits: {} };
}

export function toRunRow(row: Selectable<T.RunsTable>): RunRow {
  return {
    runId: row.run_id,
    tenant: row.tenant,
    workspace: row.workspace,
    workflowId: row.workflow_id,
    workflowHash: row.workflow_hash,
    status: row.status as RunStatus,
    version: row.version,
    engineVersion: row.engine_version,
    wakeAtMs: row.wake_at,
    agentId: row.agent_id,
    intervened: row.intervened === 1,
    state: toRun(row),
  };
}

export function toStoredEvent(row: Omit<T.RunEventsTable, "run_id">): StoredEvent {
  const { sequence, type, body, sealed } = row;
  return sealed === null ? { sequence, type, body } : { sequence, type, body, sealed };
}

export interface WorkflowColumns {
  readonly workflow_id: string;
  readonly hash: string;
  readonly definition: string;
  readonly registered_at: number;
}

export function toStoredWorkflow(row: WorkflowColumns): StoredWorkflow {
  return {
    workflowId: row.workflow_id,
    hash: row.hash,
    definition: row.definition,
    registeredAtMs: row.registered_at,
  };
}

/** A key beside one of its principal's role bindings; a key with none comes once, with nulls. */
export type KeyAndRoles = Selectable<T.ApiKeysTable> & {
  readonly roles: string | null;
  readonly group_names: string | null;
};

/** `rows` are all rows of one key. */
export function toKeyRecord(rows: readonly [KeyAndRoles, ...KeyAndRoles[]]): KeyRecord {
  const [key] = rows;
  return {
    keyId: key.key_id,
    hash: key.hash,
    tenant: key.tenant,
    ...(key.workspace === null ? {} : { workspace: key.workspace }),
    principal: key.principal,
    kind: key.kind as PrincipalKind,
    scopes: JSON.parse(key.scopes) as string[],
    ...toMembership(rows),
    ...(key.label === null ? {} : { label: key.label }),
    createdAtMs: key.created_at,
    ...(key.expires_at === null ? {} : { expiresAtMs: key.expires_at }),
    ...(key.revoked_at === null ? {} : { revokedAtMs: key.revoked_at }),
    ...(key.last_used_at === null ? {} : { lastUsedAtMs: key.last_used_at }),
  };
}

export function toKeyOutline(
  key: Omit<Selectable<T.ApiKeysTable>, "hash" | "tenant" | "scopes" | "label" | "last_used_at">,
): KeyOutline {
  return {
    keyId: key.key_id,
    principal: key.principal,
    kind: key.kind as PrincipalKind,
    ...(key.workspace === null ? {} : { workspace: key.workspace }),
    createdAtMs: key.created_at,
    ...(key.expires_at === null ? {} : { expiresAtMs: key.expires_at }),
    ...(key.revoked_at === null ? {} : { revokedAtMs: key.revoked_at }),
  };
}

export function toStoredBinding(
  row: Pick<T.RoleBindingsTable, "workspace" | "principal" | "roles" | "group_names">,
): StoredBinding {
  const { workspace, principal } = row;
  return { ...(workspace === "" ? {} : { workspace }), principal, ...toMembership([row]) };
}

/** Each name once, from whichever binding it comes. */
export function toMembership(rows: readonly Pick<KeyAndRoles, "roles" | "group_names">[]): Membership {
  const names = (column: "roles" | "group_names") => [
    ...new Set(rows.flatMap((row) => JSON.parse(row[column] ?? "[]") as string[])),
  ];
  return { roles: names("roles"), groups: names("group_names") };
}

export function toAuditEntry(row: Omit<T.AuditLogTable, "tenant">): AuditEntry {
  return {
    atSequence: row.seq,
    occurredAt: row.occurred_at,
    actor: row.actor,
    action: row.action,
    target: row.target,
    details: JSON.parse(row.details) as AuditEntry["details"],
    prevHash: row.prev_hash,
  };
}

export function toCheckpoint(row: Omit<T.AuditCheckpointsTable, "tenant">): StoredCheckpoint {
  return {
    checkpoint: row.checkpoint,
    atSequence: row.at_seq,
    merkleRoot: row.merkle_root,
    signature: row.signature,
    prevSequence: row.prev_seq,
    atMs: row.created_at,
  };
}

export type IdempotencyColumns = Pick<
  T.IdempotencyTable,
  "digest" | "state" | "status" | "headers" | "body" | "lease_until"
>;

export function toIdempotencyRecord(row: IdempotencyColumns): IdempotencyRecord {
  const { status, headers, body } = row;
  return {
    digest: row.digest,
    state: row.state as IdempotencyRecord["state"],
    ...(status === null || headers === null || body === null
      ? {}
      : { response: { status, headers: JSON.parse(headers) as Record<string, string>, body } }),
    ...(row.lease_until === null ? {} : { leaseUntilMs: row.lease_until }),
  };
}

export function toEffectRecord(row: Selectable<T.EffectsTable>): EffectRecord {
  return {
    effectId: row.effect_id,
    tenant: row.tenant,
    runId: row.run_id,
    nodeId: row.node_id,
    ordinal: row.ordinal,
    providerKey: row.provider_key,
    state: row.state as EffectRecord["state"],
    claimedBy: row.claimed_by,
    atMs: row.claimed_at,
    expiresAtMs: row.expires_at,
    ...(row.outcome === null ? {} : { outcome: row.outcome }),
  };
}

/** A Uint8Array of its own in both databases: PostgreSQL's driver gives a Buffer. */
export function toArtifact(row: Omit<T.ArtifactsTable, "run_id" | "tenant" | "created_at">): Artifact {
  return {
    artifactId: row.artifact_id,
    artifactType: row.artifact_type,
    contentType: row.content_type,
    body: new Uint8Array(row.body),
  };
}
