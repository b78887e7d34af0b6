import type { Client, QueryResult } from "pg";
import type { ChainHead } from "../audit-chain.ts";
import type { EffectsTable, IdempotencyTable, RunsTable } from "../sql/tables.ts";
import type { IdempotencyKey } from "../store.ts";
import type { PreparedUnit, RunColumns } from "./prepare-unit.ts";
import { type Statement, send } from "./statements.ts";

/**
 * The rows that the units of a batch depend on: locked as they stand in the database, then changed in memory by each
 * unit that is accepted, so that the next unit is checked against what the ones before it did.
 */
export interface StandingRows {
  /** Where the chains end, by tenant; a chain that is empty has no head. */
  readonly heads: Map<string, Standing<ChainHead>>;
  readonly runs: Map<string, Standing<StandingRun>>;
  /** The active run of a dedup scope, by `scopeKey`. */
  readonly active: Map<string, string>;
  readonly effects: Map<string, Standing<EffectsTable>>;
  /** By `idempotencyKey`. */
  readonly idempotency: Map<string, Standing<IdempotencyTable>>;
}

export interface Standing<R> {
  readonly row: R;
  /** Whether the database has such a row already. */
  readonly stored: boolean;
  readonly changed: boolean;
}

type HeldColumns = "run_id" | "tenant" | "version" | "workflow_id" | "dedup_scope" | "lease_owner" | "lease_until";

export type StandingRun = Pick<RunsTable, HeldColumns> & {
  /** All other columns, once a unit has written the run. */
  readonly columns?: RunColumns;
};

export function change<K, R>(rows: Map<K, Standing<R>>, key: K, row: R): void {
  rows.set(key, { row, stored: rows.get(key)?.stored ?? false, changed: true });
}

export function scopeKey(tenant: string, workflowId: string, scope: string): string {
  return JSON.stringify([tenant, workflowId, scope]);
}

export function idempotencyKey({ tenant, operation, key }: IdempotencyKey): string {
  return JSON.stringify([tenant, operation, key]);
}

const LOCK_HEADS = "select tenant, seq, hash from audit_heads where tenant = any($1) order by tenant for update";

const LOCK_RUNS = `select run_id, tenant, version, workflow_id, dedup_scope, lease_owner, lease_until
  from runs where run_id = any($1) order by run_id for update`;

// Not locked: a creation that comes first in another process makes ours fail at the unique index and look again.
const READ_ACTIVE = `select tenant, workflow_id, dedup_scope, run_id
  from unnest($1::text[], $2::text[], $3::text[]) as given(tenant, workflow_id, dedup_scope)
  join runs using (tenant, workflow_id, dedup_scope)`;

const LOCK_EFFECTS = "select * from effects where effect_id = any($1) order by effect_id for update";

const LOCK_IDEMPOTENCY = `select idempotency.*
  from unnest($1::text[], $2::text[], $3::text[]) as given(tenant, operation, idem_key)
  join idempotency using (tenant, operation, idem_key)
  order by tenant, operation, idem_key for update of idempotency`;

/**
 * Begins the transaction of a batch and locks what it depends on. Every process locks in this order and within it by
 * key, so no two of them wait for each other: audit heads, runs, effects, idempotency records.
 */
export async function lockStandingRows(client: Client, batch: readonly PreparedUnit[]): Promise<StandingRows> {
  const tenants = new Set<string>();
  const runIds = new Set<string>();
  const scopes = new Map<string, readonly string[]>();
  const effectIds = new Set<string>();
  const keys = new Map<string, readonly string[]>();
  for (const { unit, runs, idempotency } of batch) {
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
  }

  const flight = new Flight();
  flight.add({ text: "begin isolation level read committed" });
  const heads = flight.addUnlessEmpty("lock heads", LOCK_HEADS, tenants.size, () => [[...tenants]]);
  const runs = flight.addUnlessEmpty("lock runs", LOCK_RUNS, runIds.size, () => [[...runIds]]);
  const active = flight.addUnlessEmpty("read active", READ_ACTIVE, scopes.size, () => transpose(scopes.values()));
  const effects = flight.addUnlessEmpty("lock effects", LOCK_EFFECTS, effectIds.size, () => [[...effectIds]]);
  const records = flight.addUnlessEmpty("lock keys", LOCK_IDEMPOTENCY, keys.size, () => transpose(keys.values()));
  const answers = await send(client, flight.statements);

  return {
    heads: byKey(
      answers[heads],
      (row) => row.tenant,
      ({ seq, hash }) => ({ seq, hash }),
    ),
    runs: byKey<StandingRun>(answers[runs], (row) => row.run_id),
    active: new Map(
      answers[active]?.rows.map((row) => [scopeKey(row.tenant, row.workflow_id, row.dedup_scope), row.run_id]),
    ),
    effects: byKey<EffectsTable>(answers[effects], (row) => row.effect_id),
    idempotency: byKey<IdempotencyTable>(answers[records], ({ tenant, operation, idem_key }) =>
      idempotencyKey({ tenant, operation, key: idem_key }),
    ),
  };
}

/** Statements of one round trip, each remembered by its place. */
class Flight {
  readonly statements: Statement[] = [];

  add(statement: Statement): void {
    this.statements.push(statement);
  }

  /** The place of its answer, or -1 when there is nothing to ask. */
  addUnlessEmpty(name: string, text: string, size: number, values: () => unknown[]): number {
    if (size === 0) return -1;
    return this.statements.push({ name, text, values: values() }) - 1;
  }
}

function transpose(rows: Iterable<readonly string[]>): string[][] {
  const columns: string[][] = [[], [], []];
  for (const row of rows) for (const [index, value] of row.entries()) columns[index]?.push(value);
  return columns;
}

// biome-ignore lint/suspicious/noExplicitAny: rows are what the statement beside them selects.
type AnyRow = any;

function byKey<R>(
  answer: QueryResult | undefined,
  keyOf: (row: AnyRow) => string,
  toRow: (row: AnyRow) => R = (row) => row,
): Map<string, Standing<R>> {
  return new Map(answer?.rows.map((row) => [keyOf(row), { row: toRow(row), stored: true, changed: false }]));
}
