import { type Kysely, type Migration, sql } from "kysely";
import { COLUMN_TYPES, type ColumnTypes, type DialectName, dialectOf } from "../dialect.ts";

/** Runs and all that a request about them writes: definitions, keys, audit, idempotency, effects, artifacts. */
export const runs: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const dialect = dialectOf(db);
    const indexes = dialect === "sqlite" ? [...INDEXES, SQLITE_LEASES] : INDEXES;
    for (const statement of [...tables(COLUMN_TYPES[dialect]), ...indexes, ...GUARDS[dialect]()]) {
      await sql.raw(statement).execute(db);
    }
  },
};

/** `runs.state` is last: SQLite reads a row from the left, and a long state continues on pages that most reads spare. */
const tables = ({ text, int, bigint, blob, strict }: ColumnTypes): string[] => [
  `create table runs (
    run_id ${text} primary key,
    tenant ${text} not null,
    workspace ${text},
    workflow_id ${text} not null,
    workflow_hash ${text} not null,
    status ${text} not null,
    version ${int} not null,
    engine_version ${int} not null,
    created_at ${bigint} not null,
    updated_at ${bigint} not null,
    dedup_scope ${text},
    wake_at ${bigint},
    lease_owner ${text},
    lease_until ${bigint},
    state ${text} not null
  )${strict}`,
  `create table run_events (
    run_id ${text} not null,
    sequence ${int} not null,
    type ${text} not null,
    body ${text} not null,
    sealed ${text},
    primary key (run_id, sequence)
  )${strict}`,
  `create table workflows (
    hash ${text} primary key,
    workflow_id ${text} not null,
    definition ${text} not null,
    created_at ${bigint} not null
  )${strict}`,
  `create table workflow_heads (
    tenant ${text} not null,
    workflow_id ${text} not null,
    hash ${text} not null,
    registered_at ${bigint} not null,
    primary key (tenant, workflow_id)
  )${strict}`,
  `create table api_keys (
    key_id ${text} primary key,
    hash ${text} not null unique,
    tenant ${text} not null,
    workspace ${text},
    principal ${text} not null,
    kind ${text} not null,
    scopes ${text} not null,
    label ${text},
    created_at ${bigint} not null,
    expires_at ${bigint},
    revoked_at ${bigint},
    last_used_at ${bigint}
  )${strict}`,
  `create table role_bindings (
    tenant ${text} not null,
    workspace ${text} not null,
    principal ${text} not null,
    roles ${text} not null,
    primary key (tenant, workspace, principal)
  )${strict}`,
  `create table role_definitions (
    tenant ${text} not null,
    workspace ${text} not null,
    role ${text} not null,
    scopes ${text} not null,
    primary key (tenant, workspace, role)
  )${strict}`,
  `create table audit_log (
    tenant ${text} not null,
    seq ${bigint} not null,
    occurred_at ${text} not null,
    actor ${text} not null,
    action ${text} not null,
    target ${text} not null,
    details ${text} not null,
    prev_hash ${text},
    primary key (tenant, seq)
  )${strict}`,
  `create table audit_heads (
    tenant ${text} primary key,
    seq ${bigint} not null,
    hash ${text} not null
  )${strict}`,
  `create table audit_checkpoints (
    tenant ${text} not null,
    prev_seq ${bigint} not null,
    at_seq ${bigint} not null,
    checkpoint ${text} not null,
    merkle_root ${text} not null,
    signature ${text} not null,
    created_at ${bigint} not null,
    primary key (tenant, prev_seq)
  )${strict}`,
  `create table idempotency (
    tenant ${text} not null,
    operation ${text} not null,
    idem_key ${text} not null,
    digest ${text} not null,
    state ${text} not null,
    status ${int},
    headers ${text},
    body ${text},
    lease_owner ${text},
    lease_until ${bigint},
    expires_at ${bigint} not null,
    primary key (tenant, operation, idem_key)
  )${strict}`,
  `create table effects (
    effect_id ${text} primary key,
    tenant ${text} not null,
    run_id ${text} not null,
    node_id ${text} not null,
    ordinal ${int} not null,
    provider_key ${text} not null,
    state ${text} not null,
    claimed_by ${text} not null,
    claimed_at ${bigint} not null,
    outcome ${text},
    finished_at ${bigint},
    expires_at ${bigint} not null
  )${strict}`,
  `create table artifacts (
    run_id ${text} not null,
    artifact_id ${text} not null,
    tenant ${text} not null,
    artifact_type ${text} not null,
    content_type ${text} not null,
    body ${blob} not null,
    created_at ${bigint} not null,
    primary key (run_id, artifact_id)
  )${strict}`,
  `create table host_secrets (
    name ${text} primary key,
    value ${text} not null
  )${strict}`,
];

const INDEXES = [
  "create index runs_by_tenant on runs (tenant, run_id desc)",
  "create index runs_by_workflow on runs (tenant, workflow_id, run_id)",
  "create index runs_by_status on runs (tenant, status, run_id)",
  // The work queue: only runs that something will happen to by itself are in it.
  "create index runs_due on runs (wake_at) where wake_at is not null",
  "create unique index runs_active on runs (tenant, workflow_id, dedup_scope) where dedup_scope is not null",
  "create index api_keys_by_tenant on api_keys (tenant)",
  "create index idempotency_by_expiry on idempotency (expires_at)",
  "create index effects_by_expiry on effects (expires_at)",
  "create index effects_by_run on effects (run_id)",
  "create index audit_checkpoints_by_end on audit_checkpoints (tenant, at_seq)",
];

/** A SQLite host frees the leases of its predecessor at every start; it must not read every run for that. */
const SQLITE_LEASES = "create index runs_leased on runs (lease_owner) where lease_owner is not null";

const APPEND_ONLY = ["audit_log", "audit_checkpoints"];
/** Rows are never updated. A run may be deleted with its log, and so may an unused definition. */
const IMMUTABLE = ["run_events", "workflows"];

/** The database itself refuses, so that a mistake of ours, or a hand in the file, cannot rewrite history quietly. */
const GUARDS: Readonly<Record<DialectName, () => string[]>> = {
  sqlite: () => [
    ...APPEND_ONLY.flatMap((table) => [sqliteGuard(table, "update"), sqliteGuard(table, "delete")]),
    ...IMMUTABLE.map((table) => sqliteGuard(table, "update")),
  ],
  postgres: () => [
    `create function assay_refuse_change() returns trigger language plpgsql as
      $$ begin raise exception '% refuses %', tg_table_name, lower(tg_op); end $$`,
    ...APPEND_ONLY.map((table) => postgresGuard(table, "update or delete or truncate")),
    ...IMMUTABLE.map((table) => postgresGuard(table, "update")),
  ],
};

function sqliteGuard(table: string, deed: "update" | "delete"): string {
  return `create trigger ${table}_refuses_${deed} before ${deed} on ${table}
    begin select raise(abort, '${table} refuses ${deed}'); end`;
}

function postgresGuard(table: string, deeds: string): string {
  return `create trigger ${table}_refuses_change before ${deeds} on ${table}
    for each statement execute function assay_refuse_change()`;
}
