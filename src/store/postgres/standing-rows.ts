import type { Client } from "pg";
import type { ExternalEventKey } from "../port/gates.ts";
import type { IdempotencyKey } from "../port/store.ts";
import type { ChainHead } from "../rows/audit-chain.ts";
import { toExternalEvent } from "../rows/gate-rows.ts";
import type { ExternalEventsTable } from "../schema/gate-tables.ts";
import type { EffectsTable, IdempotencyTable, RunsTable } from "../schema/tables.ts";
import { documentQuestions, type StandingDocuments, standingDocuments } from "./apply-documents.ts";
import type { PreparedUnit, RunColumns } from "./prepare-unit.ts";
import {
  activeRunQuestions,
  familyQuestions,
  type RunCounting,
  type StandingCounts,
  standingCounts,
} from "./run-counts.ts";
import { byKey, type Question, type RowsOf, type Standing, toStatement, transpose } from "./standing.ts";
import {
  annotationQuestions,
  neededRuns,
  type StandingAnnotations,
  standingAnnotations,
} from "./standing-annotations.ts";
import { groundQuestions, type StandingGrounds, standingGrounds } from "./standing-grounds.ts";
import { newItems, queueQuestions, type StandingQueues, standingQueues } from "./standing-queues.ts";
import { reviewQuestions, type StandingReviews, standingReviews } from "./standing-reviews.ts";
import { type StandingTapes, standingTapes, tapeQuestions } from "./standing-tapes.ts";
import { send } from "./statements.ts";

/**
 * The rows that the units of a batch depend on: locked as they stand in the database, then changed in memory by each
 * unit that is accepted, so that the next unit is checked against what the ones before it did.
 */
export interface StandingRows
  extends StandingAnnotations,
    StandingQueues,
    StandingTapes,
    StandingReviews,
    StandingDocuments,
    StandingGrounds,
    StandingCounts {
  /** Where the chains end, by tenant; a chain that is empty has no head. */
  readonly heads: Map<string, Standing<ChainHead>>;
  readonly runs: Map<string, Standing<StandingRun>>;
  /** The active run of a dedup scope, by `scopeKey`. */
  readonly active: Map<string, string>;
  readonly effects: Map<string, Standing<EffectsTable>>;
  /** By `idempotencyKey`. */
  readonly idempotency: Map<string, Standing<IdempotencyTable>>;
  /** By `externalEventKey`. */
  readonly externalEvents: Map<string, Standing<ExternalEventsTable>>;
}

type HeldColumns =
  | "run_id"
  | "tenant"
  | "version"
  | "status"
  | "workflow_id"
  | "dedup_scope"
  | "lease_owner"
  | "lease_until";

export type StandingRun = Pick<RunsTable, HeldColumns> & {
  /** All other columns, once a unit has written the run. */
  readonly columns?: RunColumns;
};

export function scopeKey(tenant: string, workflowId: string, scope: string): string {
  return JSON.stringify([tenant, workflowId, scope]);
}

export function idempotencyKey({ tenant, operation, key }: IdempotencyKey): string {
  return JSON.stringify([tenant, operation, key]);
}

export function externalEventKey({ tenant, workspace, correlationId, eventId }: ExternalEventKey): string {
  return JSON.stringify([tenant, workspace, correlationId, eventId]);
}

const LOCK_HEADS = "select tenant, seq, hash from audit_heads where tenant = any($1) order by tenant for update";

const LOCK_RUNS = `select run_id, tenant, version, status, workflow_id, dedup_scope, lease_owner, lease_until
  from runs where run_id = any($1) order by run_id for update`;

// Not locked: a creation that comes first in another process makes ours fail at the unique index and look again.
const READ_ACTIVE = `select tenant, workflow_id, dedup_scope, run_id
  from unnest($1::text[], $2::text[], $3::text[]) as given(tenant, workflow_id, dedup_scope)
  join runs using (tenant, workflow_id, dedup_scope) where runs.dedup_scope is not null`;

const LOCK_EFFECTS = "select * from effects where effect_id = any($1) order by effect_id for update";

const LOCK_IDEMPOTENCY = `select idempotency.*
  from unnest($1::text[], $2::text[], $3::text[]) as given(tenant, operation, idem_key)
  join idempotency using (tenant, operation, idem_key)
  order by tenant, operation, idem_key for update of idempotency`;

const LOCK_EXTERNAL_EVENTS = `select external_events.*
  from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as given(tenant, workspace, correlation_id, event_id)
  join external_events using (tenant, workspace, correlation_id, event_id)
  order by tenant, workspace, correlation_id, event_id for update of external_events`;

/**
 * Begins the transaction of a batch and locks what it depends on. Every process locks in this order and within it by
 * key, so no two of them wait for each other: audit heads, runs, families, effects, idempotency records,
 * external events, annotations, queues, queue items, reviews, documents, counts of tenants.
 */
export async function lockStandingRows(
  client: Client,
  batch: readonly PreparedUnit[],
  counting: RunCounting,
): Promise<StandingRows> {
  const tenants = new Set<string>();
  const runIds = new Set<string>();
  const scopes = new Map<string, readonly string[]>();
  const effectIds = new Set<string>();
  const keys = new Map<string, readonly string[]>();
  const external = new Map<string, readonly string[]>();
  for (const { unit, runs, idempotency, annotations } of batch) {
    if (unit.audit?.length) tenants.add(unit.tenant);
    for (const { write, columns } of runs) {
      runIds.add(write.runId);
      if (write.expectedVersion > 0 || write.dedupScope === undefined) continue;
      const scope = [columns.tenant, columns.workflow_id, write.dedupScope] as const;
      scopes.set(scopeKey(...scope), scope);
    }
    for (const { effectId } of [...(unit.effectClaims ?? []), ...(unit.effectOutcomes ?? [])]) effectIds.add(effectId);
    if (unit.idempotency && idempotency) {
      keys.set(idempotencyKey(unit.idempotency), [idempotency.tenant, idempotency.operation, idempotency.idem_key]);
    }
    // What is written about a run exists only as long as the run does.
    for (const { runId } of (unit.queues ?? []).flatMap(newItems)) runIds.add(runId);
    for (const runId of neededRuns(annotations)) runIds.add(runId);
    for (const { runId } of unit.deletions ?? []) runIds.add(runId);
    for (const { runId } of unit.grounds ?? []) runIds.add(runId);
    for (const write of unit.tapes ?? []) if (write.type === "sidecar") runIds.add(write.sidecar.runId);
    for (const write of unit.externalEvents ?? []) {
      const key = write.type === "put" ? write.event : write.key;
      external.set(externalEventKey(key), [key.tenant, key.workspace, key.correlationId, key.eventId]);
    }
  }

  const questions: Question[] = [
    { name: "lock heads", text: LOCK_HEADS, values: [[...tenants]] },
    { name: "lock runs", text: LOCK_RUNS, values: [[...runIds]] },
    ...familyQuestions(batch),
    { name: "read active", text: READ_ACTIVE, values: transpose(3, scopes) },
    { name: "lock effects", text: LOCK_EFFECTS, values: [[...effectIds]] },
    { name: "lock idempotency", text: LOCK_IDEMPOTENCY, values: transpose(3, keys) },
    { name: "lock external events", text: LOCK_EXTERNAL_EVENTS, values: transpose(4, external) },
    ...annotationQuestions(batch),
    ...queueQuestions(batch),
    ...tapeQuestions(batch),
    ...reviewQuestions(batch),
    ...documentQuestions(batch),
    ...groundQuestions(batch),
    ...activeRunQuestions(batch, counting),
  ];
  const asked = questions.filter(({ values }) => values[0]?.length);
  const [, ...answers] = await send(client, [
    { text: "begin isolation level read committed" },
    ...asked.map(toStatement),
  ]);
  const rowsOf: RowsOf = (name) => answers[asked.findIndex((question) => question.name === name)]?.rows ?? [];

  return {
    heads: byKey(rowsOf("lock heads"), (row) => [row.tenant, { seq: row.seq, hash: row.hash }]),
    runs: byKey(rowsOf("lock runs"), (row) => [row.run_id, row]),
    active: new Map(
      rowsOf("read active").map((row) => [scopeKey(row.tenant, row.workflow_id, row.dedup_scope), row.run_id]),
    ),
    effects: byKey(rowsOf("lock effects"), (row) => [row.effect_id, row]),
    idempotency: byKey(rowsOf("lock idempotency"), (row) => [idempotencyKey({ ...row, key: row.idem_key }), row]),
    externalEvents: byKey(rowsOf("lock external events"), (row) => [externalEventKey(toExternalEvent(row)), row]),
    ...standingAnnotations(rowsOf),
    ...standingQueues(rowsOf),
    ...standingTapes(rowsOf),
    ...standingReviews(rowsOf),
    ...standingDocuments(rowsOf),
    ...standingGrounds(rowsOf),
    ...standingCounts(rowsOf, counting),
  };
}
