import { entryHash } from "../../formats/audit/audit-entry-hash.ts";
import type { AuditDraft, AuditEntry } from "../../protocol/audit/audit.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { AttemptOutcome, Membership } from "../port/gates.ts";
import type { Artifact, IdempotencyRecord, KeyRecord, KeyWrite, RunRow, StoredEvent } from "../port/store.ts";
import { auditLog } from "../schema/audit.ts";
import type { IdempotencyTable } from "../schema/host.ts";
import { type ApiKeysTable, apiKeys } from "../schema/identity.ts";
import { artifacts, type RunEventsTable, type RunsTable } from "../schema/runs.ts";
import type { Row } from "../schema/table.ts";
import type { DeliveriesTable } from "../schema/webhooks.ts";

/** Rows turned into records where more is to be done than the description of the table says. */

/** The one place that reads a state. Runs stored before there were gates know nothing of what gates brought. */
export function toRun({ state }: Pick<RunsTable, "state">): Run {
  const run = JSON.parse(state) as Run;
  return "interrupts" in run ? run : { ...(run as object as Run), interrupts: {}, children: {}, visits: {} };
}

export function toRunRow(row: RunsTable): RunRow {
  return {
    runId: row.run_id,
    tenant: row.tenant,
    workspace: row.workspace,
    workflowId: row.workflow_id,
    workflowHash: row.workflow_hash,
    status: row.status,
    version: row.version,
    engineVersion: row.engine_version,
    wakeAtMs: row.wake_at,
    agentId: row.agent_id,
    intervened: row.intervened === 1,
    state: toRun(row),
  };
}

/** Written out: a page has hundreds of events. */
export function toStoredEvent(row: Omit<RunEventsTable, "run_id">): StoredEvent {
  const { sequence, type, body, sealed } = row;
  return sealed === null ? { sequence, type, body } : { sequence, type, body, sealed };
}

/** A key with one of its principal's role bindings; a key with none comes once, with nulls. */
export type KeyAndRoles = ApiKeysTable & {
  readonly roles: string | null;
  readonly group_names: string | null;
};

/** `rows` are all rows of one key. */
export function toKeyRecord(rows: readonly [KeyAndRoles, ...KeyAndRoles[]]): KeyRecord {
  return { ...apiKeys.toRecord<ApiKeysTable>(rows[0]), ...toMembership(rows) };
}

/** Of a key that is put: a revocation is lifted. */
export function keyRow(key: Extract<KeyWrite, { type: "put" }>["key"]): ApiKeysTable {
  return { ...apiKeys.toRow(key), revoked_at: null, last_used_at: null };
}

/** Each name once, from whichever binding it comes. */
export function toMembership(rows: readonly Pick<KeyAndRoles, "roles" | "group_names">[]): Membership {
  const names = (column: "roles" | "group_names") => [
    ...new Set(rows.flatMap((row) => JSON.parse(row[column] ?? "[]") as string[])),
  ];
  return { roles: names("roles"), groups: names("group_names") };
}

export function toAuditEntry(row: Omit<Row<typeof auditLog>, "tenant">): AuditEntry {
  return { ...auditLog.toRecord(row), prevHash: row.prev_hash };
}

/** Written out: nearly every unit has one. */
export function auditRow(tenant: string, entry: AuditEntry): Row<typeof auditLog> {
  const { atSequence, occurredAt, actor, action, target, details, prevHash } = entry;
  const what = { actor, action, target, details: JSON.stringify(details) };
  return { tenant, seq: atSequence, occurred_at: occurredAt, ...what, prev_hash: prevHash };
}

export type IdempotencyColumns = Pick<
  IdempotencyTable,
  "digest" | "state" | "status" | "headers" | "body" | "lease_until"
>;

export function toIdempotencyRecord(row: IdempotencyColumns): IdempotencyRecord {
  const { status, headers, body } = row;
  return {
    digest: row.digest,
    state: row.state,
    ...(status === null || headers === null || body === null
      ? {}
      : { response: { status, headers: JSON.parse(headers) as Record<string, string>, body } }),
    ...(row.lease_until === null ? {} : { leaseUntilMs: row.lease_until }),
  };
}

/** A Uint8Array of its own in both databases: PostgreSQL's driver gives a Buffer. */
export function toArtifact(row: Omit<Row<typeof artifacts>, "run_id" | "tenant" | "created_at">): Artifact {
  return { ...artifacts.toRecord(row), body: new Uint8Array(row.body) };
}

export { entryHash };

export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

/** Puts drafts at the end of a chain. Pure but for the hash; callers hold the head's lock. */
export function extendChain(
  head: ChainHead | undefined,
  drafts: readonly AuditDraft[],
): { entries: AuditEntry[]; head: ChainHead } {
  let seq = head?.seq ?? 0;
  let prevHash: string | null = head?.hash ?? null;
  const entries: AuditEntry[] = [];
  for (const { occurredAt, actor, action, target, details } of drafts) {
    seq += 1;
    const entry: AuditEntry = { atSequence: seq, occurredAt, actor, action, target, details, prevHash };
    prevHash = entryHash(entry);
    entries.push(entry);
  }
  if (prevHash === null) throw new Error("extendChain needs a head or at least one draft");
  return { entries, head: { seq, hash: prevHash } };
}

type Finished = Pick<DeliveriesTable, "state" | "attempts" | "next_at" | "last_status" | "last_error" | "finished_at">;

/** A delivery after an attempt: a retry has a due time, any other an end. */
export function finishedColumns(attempt: AttemptOutcome): Finished {
  const { state, attempts, nextAtMs, lastStatus, lastError, atMs } = attempt;
  const again = state === "pending";
  return {
    state,
    attempts,
    next_at: again ? (nextAtMs ?? atMs) : null,
    last_status: lastStatus ?? null,
    last_error: lastError ?? null,
    finished_at: again ? null : atMs,
  };
}

/** Why the deliveries that waited for a webhook are dead. */
export const WEBHOOK_DISABLED = "the webhook was disabled";
