import { type Kysely, type Migration, sql } from "kysely";
import { COLUMN_TYPES, type ColumnTypes, type DialectName, dialectOf } from "../dialect.ts";

/** Counts of runs per tenant and per root run, the root of each child run, the work queue by tenant, and probes of readiness. */
export const runCounts: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const dialect = dialectOf(db);
    const statements = [...tables(COLUMN_TYPES[dialect]), fillRoots(dialect), ...INDEXES, ...FILL_COUNTS];
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const tables = ({ text, int, bigint, blob, strict, clustered }: ColumnTypes): string[] => [
  `alter table runs add column root_run_id ${text}`,
  `create table tenant_runs (
    tenant ${text} not null,
    shard ${int} not null,
    active ${bigint} not null,
    primary key (tenant, shard)
  )${clustered}`,
  `create table run_families (
    root_run_id ${text} primary key,
    tenant ${text} not null,
    descendants ${bigint} not null,
    cancelled_at ${bigint}
  )${strict}`,
  `create table host_probes (
    name ${text} primary key,
    at ${bigint} not null,
    filler ${blob}
  )${strict}`,
];

/** Only states that may name a root are parsed. */
function fillRoots(dialect: DialectName): string {
  return dialect === "sqlite"
    ? `update runs set root_run_id = json_extract(state, '$.parent.rootRunId') where instr(state, '"rootRunId"') > 0`
    : `update runs set root_run_id = state::json -> 'parent' ->> 'rootRunId' where strpos(state, '"rootRunId"') > 0`;
}

const INDEXES = [
  "create index runs_by_root on runs (root_run_id, run_id) where root_run_id is not null",
  "create index runs_due_by_tenant on runs (tenant, wake_at) where wake_at is not null",
];

const FILL_COUNTS = [
  `insert into tenant_runs (tenant, shard, active)
    select tenant, 0, count(*) from runs where status not in ('completed', 'failed', 'cancelled') group by tenant`,
  `insert into run_families (root_run_id, tenant, descendants)
    select root_run_id, min(tenant), count(*) from runs where root_run_id is not null group by root_run_id`,
];
