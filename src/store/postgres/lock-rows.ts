import type { Client } from "pg";
import { idIn } from "../port/documents.ts";
import type { QueueItemRecord, QueueWrite } from "../port/judgments.ts";
import type { PreparedUnit } from "../units/prepare-unit.ts";
import { LockedRows, type RowsOf } from "./current-rows.ts";
import type { RunCounting } from "./run-counts.ts";
import { prepared, type Statement, send } from "./statements.ts";

/**
 * The rows that a batch locks and reads before it is decided, in this order. Every process locks in this order and within it by key, so no two of
 * them wait for each other. Each takes one array per parameter, all of the same length.
 */
const LOCKS = {
  heads: "select tenant, seq, hash from audit_heads where tenant = any($1) order by tenant for update",

  runs: `select run_id, tenant, version, status, workflow_id, dedup_scope, lease_owner, lease_until
    from runs where run_id = any($1) order by run_id for update`,

  families: `select root_run_id, tenant, descendants, cancelled_at
    from run_families where root_run_id = any($1) order by root_run_id for update`,

  // Not locked: a concurrent creation makes ours fail at the unique index, and the batch is retried.
  active: `select tenant, workflow_id, dedup_scope, run_id
    from unnest($1::text[], $2::text[], $3::text[]) as given(tenant, workflow_id, dedup_scope)
    join runs using (tenant, workflow_id, dedup_scope) where runs.dedup_scope is not null`,

  effects: "select * from effects where effect_id = any($1) order by effect_id for update",

  outcomes: `select idempotency.*
    from unnest($1::text[], $2::text[], $3::text[]) as given(tenant, operation, idem_key)
    join idempotency using (tenant, operation, idem_key)
    order by tenant, operation, idem_key for update of idempotency`,

  externalEvents: `select external_events.*
    from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as given(tenant, workspace, correlation_id, event_id)
    join external_events using (tenant, workspace, correlation_id, event_id)
    order by tenant, workspace, correlation_id, event_id for update of external_events`,

  annotations: `select tenant, annotation_id, state, flag_status
    from unnest($1::text[], $2::text[]) as given(tenant, annotation_id) join annotations using (tenant, annotation_id)
    order by tenant, annotation_id for update of annotations`,

  // Also a queue whose items alone are written: no other process fills it in the meantime.
  queues: "select queue_id, tenant, revision from queues where queue_id = any($1) order by queue_id for update",

  // Not locked: a concurrent queue of that name makes ours fail at the unique index, and the batch is retried.
  names: `select queues.queue_id, queues.revision, given.tenant, given.workspace, given.name
    from unnest($1::text[], $2::text[], $3::text[]) as given(tenant, workspace, name)
    join queues on queues.tenant = given.tenant and coalesce(queues.workspace, '') = given.workspace
      and queues.name = given.name`,

  items: `select item_id, tenant, queue_id, run_id, revision from queue_items
    where item_id = any($1) order by item_id for update`,

  // Leases are in no audit log and ask for no run: without this lock they would be written while the run of their item goes.
  itemsOfDeleted: "select item_id from queue_items where run_id = any($1) order by item_id for update",

  subjects: `select queue_items.item_id, queue_items.revision, queue_id, subject
    from unnest($1::text[], $2::text[]) as given(queue_id, subject) join queue_items using (queue_id, subject)`,

  // Not locked: a concurrent import of the tape makes ours fail at the unique index, and the batch is retried.
  tapes: `select tapes.run_id, given.tenant, given.workspace, given.digest
    from unnest($1::text[], $2::text[], $3::text[]) as given(tenant, workspace, digest)
    join tapes on tapes.tenant = given.tenant and tapes.digest = given.digest
      and coalesce(tapes.workspace, '') = given.workspace`,

  // Not locked: its run is.
  sidecars: "select run_id, revision from tape_sidecars where run_id = any($1)",

  reviews: `select session_id, tenant, revision, lease_owner from review_sessions
    where session_id = any($1) order by session_id for update`,

  documents: `select documents.tenant, kind, doc_key, revision
    from unnest($1::text[], $2::text[], $3::text[]) as given(tenant, kind, doc_key)
    join documents using (tenant, kind, doc_key)
    order by tenant, kind, doc_key for update of documents`,

  // Under the locks of the audit heads: a judgment has to have its own.
  judged: `select run_id from unnest($1::text[], $2::text[], $3::text[]) as given(tenant, run_id, seq)
    where exists (select 1 from annotation_changes as change
      join annotations using (tenant, annotation_id)
      where change.tenant = given.tenant and change.seq > given.seq::bigint and annotations.run_id = given.run_id)`,

  // The lock of a tenant is taken after all locks of rows, and its count is read under it. A creation without a row to lock must meet
  // others too, so the lock is one of a name and not of a row.
  tenants: `select pg_advisory_xact_lock(hashtextextended(tenant, 1163))
    from (select tenant from unnest($1::text[]) as given(tenant) order by tenant) as ordered`,

  activeRuns: "select tenant, sum(active)::float8 as active from tenant_runs where tenant = any($1) group by tenant",
} as const;

export type LockName = keyof typeof LOCKS;

/** The keys of the rows of a batch, each once. */
class Keys {
  readonly #keys = new Map<string, readonly string[]>();

  add(...key: readonly string[]): void {
    this.#keys.set(key.length === 1 ? (key[0] ?? "") : JSON.stringify(key), key);
  }

  /** One array per column; undefined where there is no key. */
  get columns(): string[][] | undefined {
    const keys = [...this.#keys.values()];
    return keys[0]?.map((_, column) => keys.map((key) => key[column] ?? ""));
  }
}

/** Begins the transaction of a batch and locks what it depends on. */
export async function lockRows(
  client: Client,
  batch: readonly PreparedUnit[],
  counting: RunCounting,
): Promise<LockedRows> {
  const keys = keysOf(batch, counting);
  const asked = (Object.keys(LOCKS) as LockName[]).flatMap((name) => {
    const values = keys[name].columns;
    return values === undefined ? [] : [{ name, statement: toStatement(name, values) }];
  });
  const begin = { text: "begin isolation level read committed" };
  const [, ...answers] = await send(client, [begin, ...asked.map(({ statement }) => statement)]);
  const rowsOf: RowsOf = (name) => answers[asked.findIndex((one) => one.name === name)]?.rows ?? [];
  const active = new Map<string, number>(rowsOf("activeRuns").map((row) => [row.tenant, row.active]));
  counting.remember(active);
  return new LockedRows(rowsOf, (tenant) => active.get(tenant) ?? counting.lastSeen(tenant) ?? 0);
}

/**
 * A question that joins what it is given is planned each time. PostgreSQL would keep the plan it made while the table was small, which
 * reads all of it, until the table is analysed again.
 */
function toStatement(name: LockName, values: readonly string[][]): Statement {
  const text = LOCKS[name];
  return text.includes("unnest(") ? { text, values } : { ...prepared(`lock ${name}`, text), values };
}

function keysOf(batch: readonly PreparedUnit[], counting: RunCounting): Record<LockName, Keys> {
  const names = Object.keys(LOCKS) as LockName[];
  const keys = Object.fromEntries(names.map((name) => [name, new Keys()])) as Record<LockName, Keys>;
  for (const prepared of batch) {
    addRuns(prepared, keys);
    addSideRows(prepared, keys);
    for (const write of prepared.unit.queues ?? []) addQueue(write, keys);
  }
  const { near, due } = counting.tenantsOf(batch);
  for (const tenant of near) keys.tenants.add(tenant);
  for (const tenant of due) keys.activeRuns.add(tenant);
  return keys;
}

/** Runs, also those that rows of other tables are about: what is written about a run exists only as long as the run does. */
function addRuns({ unit, checks }: PreparedUnit, keys: Record<LockName, Keys>): void {
  const { tenant } = unit;
  if (unit.audit?.length) keys.heads.add(tenant);
  for (const { runId, expectedVersion, rootRunId, dedup } of checks.runs) {
    keys.runs.add(runId);
    if (expectedVersion === 0 && rootRunId !== null) keys.families.add(rootRunId);
    if (dedup !== undefined) keys.active.add(tenant, dedup.workflowId, dedup.scope);
  }
  for (const { rootRunId } of unit.cancelledFamilies ?? []) keys.families.add(rootRunId);
  for (const { annotationId, runId } of checks.annotations) {
    if (runId !== undefined) keys.runs.add(runId);
    keys.annotations.add(tenant, annotationId);
  }
  for (const { runId } of checks.deletions) {
    keys.runs.add(runId);
    keys.itemsOfDeleted.add(runId);
  }
  for (const { runId, judgedUpTo } of checks.preconditions) {
    keys.runs.add(runId);
    if (judgedUpTo !== undefined) keys.judged.add(tenant, runId, String(judgedUpTo));
  }
  for (const check of checks.tapes) {
    if (check.type === "import") keys.tapes.add(check.tenant, check.workspace ?? "", check.digest);
    else {
      keys.runs.add(check.runId);
      keys.sidecars.add(check.runId);
    }
  }
}

function addSideRows({ unit, checks }: PreparedUnit, keys: Record<LockName, Keys>): void {
  for (const { effectId } of [...(unit.effectClaims ?? []), ...(unit.effectOutcomes ?? [])]) keys.effects.add(effectId);
  const outcome = checks.idempotency;
  if (outcome !== undefined) keys.outcomes.add(outcome.tenant, outcome.operation, outcome.key);
  for (const { key } of checks.externalEvents) {
    keys.externalEvents.add(key.tenant, key.workspace, key.correlationId, key.eventId);
  }
  for (const { sessionId } of checks.reviews) keys.reviews.add(sessionId);
  for (const write of unit.documents ?? []) {
    const { tenant, kind, key } = idIn(write);
    keys.documents.add(tenant, kind, key);
  }
}

function addQueue(write: QueueWrite, keys: Record<LockName, Keys>): void {
  if (write.type === "queue") {
    const { queueId, tenant, workspace = "", name } = write.queue;
    keys.queues.add(queueId);
    keys.names.add(tenant, workspace, name);
  }
  for (const { itemId, queueId, subject, runId, revision } of itemsOf(write)) {
    keys.queues.add(queueId);
    keys.items.add(itemId);
    keys.subjects.add(queueId, subject);
    // Once there, an item goes when its run goes.
    if (revision === 1) keys.runs.add(runId);
  }
}

export function itemsOf(write: QueueWrite): readonly QueueItemRecord[] {
  if (write.type === "queue") return [];
  return write.type === "item" ? [write.item] : write.items;
}
