import { runDeletes } from "../read/delete-run.ts";
import { FIRST_POSITION, passed } from "../rows/queue-rows.ts";
import type { SqliteDatabase, SqliteStatement } from "./open-database.ts";
import { ROW_STATEMENTS, type RowStatementName } from "./row-statements.ts";

/** Each takes the run and the tenant. */
export const RUN_DELETES = runDeletes({ run: "?1", tenant: "?2", last: "char(1114111)" });

/** Writes of units and attempts other than whole rows. */
const OTHER_WRITES = {
  leaveDedupScope: "update runs set dedup_scope = null where run_id = ?",
  finishEffect: `update effects set state = ?, outcome = ?, finished_at = ?
    where effect_id = ? and tenant = ? and state = 'claimed'`,
  revokeKey: "update api_keys set revoked_at = ? where key_id = ? and tenant = ? and revoked_at is null",
  touchKey: "update api_keys set last_used_at = max(coalesce(last_used_at, 0), ?) where key_id = ?",
  deleteRoleDefinition: "delete from role_definitions where tenant = ? and workspace = ? and role = ?",

  // One file has one process, so all counts of a tenant are in shard 0; a restored backup may have more.
  addActiveRuns: `insert into tenant_runs (tenant, shard, active) values (?, 0, ?)
    on conflict (tenant, shard) do update set active = active + excluded.active`,
  addDescendants: `insert into run_families (root_run_id, tenant, descendants) values (?, ?, ?)
    on conflict (root_run_id) do update set descendants = descendants + excluded.descendants`,
  cancelFamily: `insert into run_families (root_run_id, tenant, descendants, cancelled_at) values (?, ?, 0, ?)
    on conflict (root_run_id) do update set cancelled_at = coalesce(cancelled_at, excluded.cancelled_at)
    where tenant = excluded.tenant`,

  deleteVotes: "delete from interrupt_votes where interrupt_id = ?",
  deliverExternalEvent: `update external_events set state = 'delivered', payload = '{}', answer = ?, expires_at = ?
    where tenant = ? and workspace = ? and correlation_id = ? and event_id = ?`,
  deleteUndelivered: "delete from deliveries where webhook_id = ? and tenant = ? and state = 'pending'",
  deleteWebhook: "delete from webhooks where webhook_id = ? and tenant = ?",
  enableWebhook: `update webhooks set failures = 0, failing_since = null, circuit_until = null, disabled_at = null
    where webhook_id = ? and tenant = ?`,
  finishDelivery: `update deliveries set state = ?, attempts = ?, next_at = ?, last_status = ?, last_error = ?,
    finished_at = ?, lease_owner = null, lease_until = null where delivery_id = ? and lease_owner = ?`,
  setWebhookHealth: `update webhooks set failures = ?, failing_since = ?, circuit_until = ?,
    disabled_at = coalesce(?, disabled_at) where webhook_id = ?`,

  deleteReviews: "delete from queue_reviews where item_id = ?",
  // Back to an item that a reviewer could get now, though all before the mark were passed; see `queueMarks`.
  lowerMarks: `update queue_marks set position = ?2, item_id = ?3
    where queue_id = ?1 and (position, item_id) > (?2, ?3) and exists (select 1 from queue_items where item_id = ?3)
    and not ${passed("?3", "queue_marks.reviewer")}`,
  // On to the first item that the reviewer has yet to pass.
  raiseMark: `insert into queue_marks (queue_id, reviewer, position, item_id)
    select queue_id, ?2, position, item_id from queue_items as item
    where queue_id = ?1 and state = 'open' and (position, item_id) >= (
      select coalesce(max(position), ${FIRST_POSITION}), coalesce(max(item_id), '') from queue_marks
      where queue_id = ?1 and reviewer = ?2)
    and not ${passed("item.item_id", "?2")}
    order by position, item_id limit 1
    on conflict (queue_id, reviewer) do update set position = excluded.position, item_id = excluded.item_id`,

  deleteRounds: "delete from review_rounds where session_id = ?",
  deleteReview: "delete from review_sessions where session_id = ?",
  deleteDocument: "delete from documents where tenant = ? and kind = ? and doc_key = ?",
  ...RUN_DELETES,
} as const;

/** Reads that units are checked against; see `CurrentRows`. */
export const READS = {
  run: "select tenant, version, status, dedup_scope, lease_owner, lease_until from runs where run_id = ?",
  activeRun: "select run_id from runs where tenant = ? and workflow_id = ? and dedup_scope = ?",
  activeRuns: "select sum(active) as active from tenant_runs where tenant = ?",
  family: "select descendants, cancelled_at from run_families where root_run_id = ?",
  effect: "select * from effects where effect_id = ?",
  outcome: "select * from idempotency where tenant = ? and operation = ? and idem_key = ?",
  auditHead: "select seq, hash from audit_heads where tenant = ?",
  externalEvent: `select * from external_events
    where tenant = ? and workspace = ? and correlation_id = ? and event_id = ?`,
  annotation: "select state, flag_status from annotations where tenant = ? and annotation_id = ?",
  queue: "select queue_id, tenant, revision from queues where queue_id = ?",
  queueNamed: `select queue_id, tenant, revision from queues
    where tenant = ? and coalesce(workspace, '') = coalesce(?, '') and name = ?`,
  item: "select item_id, tenant, queue_id, revision from queue_items where item_id = ?",
  itemAbout: "select item_id, revision from queue_items where queue_id = ? and subject = ?",
  tape: "select run_id from tapes where tenant = ? and digest = ? and coalesce(workspace, '') = coalesce(?, '')",
  sidecar: "select revision from tape_sidecars where run_id = ?",
  review: "select tenant, revision, lease_owner from review_sessions where session_id = ?",
  document: "select revision from documents where tenant = ? and kind = ? and doc_key = ?",
  judgedSince: `select 1 from annotation_changes as change where tenant = ? and seq > ? and exists (
    select 1 from annotations where tenant = change.tenant and annotation_id = change.annotation_id and run_id = ?) limit 1`,
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

const ALL = { ...OTHER_WRITES, ...READS, ...CLAIMS, ...TRANSACTION };

export type StatementName = RowStatementName | keyof typeof OTHER_WRITES;
export type Statements = Readonly<Record<StatementName | keyof typeof ALL, SqliteStatement>>;

/** Prepares everything once. The caller keeps `db` for as long as it uses them. */
export function prepareStatements(db: SqliteDatabase): Statements {
  const rows = Object.entries(ROW_STATEMENTS).map(([name, { text }]) => [name, text] as const);
  return Object.fromEntries(
    [...rows, ...Object.entries(ALL)].map(([name, text]) => [name, db.prepare(text)]),
  ) as Statements;
}

export interface CachedStatement {
  readonly statement: SqliteStatement;
  readonly returnsRows: boolean;
}

/** Our statements are few, but those with lists of parameters must not pile up. */
const STATEMENTS_MAX = 200;

/** Preparing costs more than running. The caller keeps `db` for as long as it uses the statements. */
export function cacheStatements(db: SqliteDatabase): (sql: string) => CachedStatement {
  const cache = new Map<string, CachedStatement>();
  return (sql) => {
    const known = cache.get(sql);
    if (known !== undefined) return known;
    const statement = db.prepare(sql);
    const cached = { statement, returnsRows: statement.columns().length > 0 };
    if (cache.size >= STATEMENTS_MAX) cache.clear();
    cache.set(sql, cached);
    return cached;
  };
}
