import { ANNOTATION_READS, ANNOTATION_WRITES } from "./annotation-statements.ts";
import { DELETION_READS, DELETION_WRITES } from "./deletion-statements.ts";
import { DOCUMENT_READS, DOCUMENT_WRITES } from "./document-statements.ts";
import { GATE_READS, GATE_WRITES } from "./gate-statements.ts";
import type { SqliteDatabase, SqliteStatement } from "./open-database.ts";
import { QUEUE_READS, QUEUE_WRITES } from "./queue-statements.ts";
import { REVIEW_READS, REVIEW_WRITES } from "./review-statements.ts";
import { RUN_COUNT_READS, RUN_COUNT_WRITES } from "./run-count-statements.ts";
import { TAPE_READS, TAPE_WRITES } from "./tape-statements.ts";

/** Everything a unit writes. `flatten-unit.ts` gives the values, in the order of the columns. */
const WRITES = {
  insertRun: `insert into runs (run_id, tenant, workspace, workflow_id, workflow_hash, status, version, engine_version,
    state, created_at, updated_at, agent_id, intervened, root_run_id, dedup_scope, wake_at, lease_owner, lease_until)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  updateRun: `update runs set status = ?, version = ?, engine_version = ?, state = ?, updated_at = ?, agent_id = ?,
    intervened = ?, wake_at = ? where run_id = ?`,
  // In one statement, because SQLite writes the whole row again for each.
  updateRunAndLease: `update runs set status = ?, version = ?, engine_version = ?, state = ?, updated_at = ?, agent_id = ?,
    intervened = ?, wake_at = ?, lease_owner = ?, lease_until = ? where run_id = ?`,
  leaveDedupScope: "update runs set dedup_scope = null where run_id = ?",
  insertEvent: "insert into run_events (run_id, sequence, type, body, sealed) values (?, ?, ?, ?, ?)",
  insertEffect: `insert into effects (effect_id, tenant, run_id, node_id, ordinal, provider_key, state, claimed_by,
    claimed_at, expires_at) values (?, ?, ?, ?, ?, ?, 'claimed', ?, ?, ?)`,
  finishEffect: `update effects set state = ?, outcome = ?, finished_at = ?
    where effect_id = ? and tenant = ? and state = 'claimed'`,
  putIdempotency: `insert into idempotency (tenant, operation, idem_key, digest, state, status, headers, body, expires_at)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (tenant, operation, idem_key) do update set digest = excluded.digest, state = excluded.state,
    status = excluded.status, headers = excluded.headers, body = excluded.body, lease_owner = null, lease_until = null,
    expires_at = excluded.expires_at`,
  insertWorkflow: `insert into workflows (hash, workflow_id, definition, created_at) values (?, ?, ?, ?)
    on conflict (hash) do nothing`,
  putWorkflowHead: `insert into workflow_heads (tenant, workflow_id, hash, registered_at) values (?, ?, ?, ?)
    on conflict (tenant, workflow_id) do update set hash = excluded.hash, registered_at = excluded.registered_at`,
  // Node 22 binds an empty array as NULL.
  putArtifact: `insert into artifacts (run_id, artifact_id, tenant, artifact_type, content_type, body, created_at)
    values (?, ?, ?, ?, ?, coalesce(?, x''), ?)
    on conflict (run_id, artifact_id) do update set artifact_type = excluded.artifact_type,
    content_type = excluded.content_type, body = excluded.body, created_at = excluded.created_at
    where tenant = excluded.tenant`,
  putKey: `insert into api_keys (key_id, hash, tenant, workspace, principal, kind, scopes, label, created_at, expires_at)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (hash) do update set key_id = excluded.key_id, tenant = excluded.tenant, workspace = excluded.workspace,
    principal = excluded.principal, kind = excluded.kind, scopes = excluded.scopes, label = excluded.label,
    created_at = excluded.created_at, expires_at = excluded.expires_at, revoked_at = null`,
  revokeKey: "update api_keys set revoked_at = ? where key_id = ? and tenant = ? and revoked_at is null",
  touchKey: "update api_keys set last_used_at = max(coalesce(last_used_at, 0), ?) where key_id = ?",
  putRoles: `insert into role_bindings (tenant, workspace, principal, roles) values (?, ?, ?, ?)
    on conflict (tenant, workspace, principal) do update set roles = excluded.roles`,
  keepRoles: `insert into role_bindings (tenant, workspace, principal, roles) values (?, ?, ?, ?)
    on conflict (tenant, workspace, principal) do nothing`,
  setGroups: "update role_bindings set group_names = ? where tenant = ? and workspace = ? and principal = ?",
  putRoleDefinition: `insert into role_definitions (tenant, workspace, role, scopes) values (?, ?, ?, ?)
    on conflict (tenant, workspace, role) do update set scopes = excluded.scopes`,
  deleteRoleDefinition: "delete from role_definitions where tenant = ? and workspace = ? and role = ?",
  insertAudit: `insert into audit_log (tenant, seq, occurred_at, actor, action, target, details, prev_hash)
    values (?, ?, ?, ?, ?, ?, ?, ?)`,
  putAuditHead: `insert into audit_heads (tenant, seq, hash) values (?, ?, ?)
    on conflict (tenant) do update set seq = excluded.seq, hash = excluded.hash`,
  ...RUN_COUNT_WRITES,
  ...GATE_WRITES,
  ...ANNOTATION_WRITES,
  ...QUEUE_WRITES,
  ...TAPE_WRITES,
  ...REVIEW_WRITES,
  ...DOCUMENT_WRITES,
  ...DELETION_WRITES,
} as const;

const READS = {
  runHead: "select version, tenant, status, lease_owner, dedup_scope from runs where run_id = ?",
  activeRun: "select run_id from runs where tenant = ? and workflow_id = ? and dedup_scope = ?",
  effect: "select * from effects where effect_id = ?",
  idempotency: "select * from idempotency where tenant = ? and operation = ? and idem_key = ?",
  auditHead: "select seq, hash from audit_heads where tenant = ?",
  ...RUN_COUNT_READS,
  ...GATE_READS,
  ...ANNOTATION_READS,
  ...QUEUE_READS,
  ...TAPE_READS,
  ...REVIEW_READS,
  ...DOCUMENT_READS,
  ...DELETION_READS,
} as const;

export const CLAIMS = {
  // The order of returned rows is not that of the sub-select: the caller sorts again.
  claimRuns: `update runs set lease_owner = ?, lease_until = ? where run_id in (
      select run_id from runs
      where wake_at is not null and wake_at <= ? and (lease_until is null or lease_until <= ?) and engine_version <= ?
        and octet_length(state) > ? and octet_length(state) <= ?
      order by wake_at limit ?)
    returning wake_at, state`,
  claimRunsOf: `update runs set lease_owner = ?, lease_until = ? where run_id in (
      select run_id from runs
      where tenant = ? and wake_at is not null and wake_at <= ? and (lease_until is null or lease_until <= ?)
        and engine_version <= ? and octet_length(state) > ? and octet_length(state) <= ?
      order by wake_at limit ?)
    returning wake_at, state`,
  renewLease: "update runs set lease_until = ? where run_id = ? and lease_owner = ?",
} as const;

const TRANSACTION = { begin: "begin immediate", commit: "commit" } as const;

const ALL = { ...WRITES, ...READS, ...CLAIMS, ...TRANSACTION };

export type StatementName = keyof typeof WRITES;
export type Statements = Readonly<Record<keyof typeof ALL, SqliteStatement>>;

/** Prepares everything once. The caller keeps `db` for as long as it uses them. */
export function prepareStatements(db: SqliteDatabase): Statements {
  return Object.fromEntries(Object.entries(ALL).map(([name, text]) => [name, db.prepare(text)])) as Statements;
}
