import { type Kysely, type Migration, sql } from "kysely";
import { COLUMN_TYPES, type ColumnTypes, dialectOf } from "../dialect.ts";

/** Interrupts across runs, external events that came early, webhooks with their outbox, and groups of principals. */
export const gates: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of [...tables(COLUMN_TYPES[dialectOf(db)]), ...INDEXES]) {
      await sql.raw(statement).execute(db);
    }
  },
};

/** Not `groups`, which is a keyword in some dialects. `interrupts.body` is last for the reason `runs.state` is. */
const tables = ({ text, int, bigint, strict }: ColumnTypes): string[] => [
  `alter table role_bindings add column group_names ${text} not null default '[]'`,
  `create table interrupts (
    interrupt_id ${text} primary key,
    tenant ${text} not null,
    workspace ${text},
    run_id ${text} not null,
    workflow_id ${text} not null,
    node_id ${text} not null,
    kind ${text} not null,
    status ${text} not null,
    started_by ${text},
    requested_at ${bigint} not null,
    deadline ${bigint},
    correlation_id ${text},
    event_type ${text},
    outcome ${text},
    reason ${text},
    overridden ${int} not null,
    decided_by ${text},
    closed_at ${bigint},
    body ${text} not null
  )${strict}`,
  `create table interrupt_votes (
    interrupt_id ${text} not null,
    voter ${text} not null,
    tenant ${text} not null,
    workspace ${text},
    workflow_id ${text} not null,
    node_id ${text} not null,
    principal ${text} not null,
    action ${text} not null,
    override ${int} not null,
    opened_at ${bigint} not null,
    voted_at ${bigint} not null,
    primary key (interrupt_id, voter)
  )${strict}`,
  `create table external_events (
    tenant ${text} not null,
    workspace ${text} not null,
    correlation_id ${text} not null,
    event_id ${text} not null,
    event_type ${text} not null,
    state ${text} not null,
    payload ${text} not null,
    answer ${text} not null,
    received_at ${bigint} not null,
    expires_at ${bigint} not null,
    primary key (tenant, workspace, correlation_id, event_id)
  )${strict}`,
  `create table webhooks (
    webhook_id ${text} primary key,
    tenant ${text} not null,
    workspace ${text},
    url ${text} not null,
    events ${text} not null,
    tags ${text} not null,
    secret ${text} not null,
    created_by ${text} not null,
    created_at ${bigint} not null,
    failures ${int} not null,
    failing_since ${bigint},
    circuit_until ${bigint},
    disabled_at ${bigint}
  )${strict}`,
  `create table deliveries (
    delivery_id ${text} primary key,
    tenant ${text} not null,
    workspace ${text},
    webhook_id ${text} not null,
    url ${text},
    run_id ${text} not null,
    sequence ${int} not null,
    event_type ${text} not null,
    interrupt_id ${text},
    created_at ${bigint} not null,
    state ${text} not null,
    attempts ${int} not null,
    next_at ${bigint},
    last_status ${int},
    last_error ${text},
    finished_at ${bigint},
    lease_owner ${text},
    lease_until ${bigint}
  )${strict}`,
];

const INDEXES = [
  // The inbox: those that were decided long ago are not in its way.
  "create index interrupts_open on interrupts (tenant, interrupt_id) where status = 'open'",
  "create index interrupts_by_run on interrupts (run_id)",
  `create index interrupts_by_correlation on interrupts (tenant, correlation_id, interrupt_id)
    where correlation_id is not null`,
  // All that a summary looks at, so that it reads no row: their bodies would be a hundred times as much.
  `create index interrupts_by_time on interrupts (tenant, requested_at, interrupt_id, workspace, workflow_id, node_id,
    status, outcome, closed_at, overridden) where kind = 'approval'`,
  "create index interrupt_votes_by_time on interrupt_votes (tenant, opened_at)",
  "create index external_events_by_expiry on external_events (expires_at)",
  "create index external_events_held on external_events (tenant, correlation_id, received_at) where state = 'held'",
  "create index webhooks_by_tenant on webhooks (tenant)",
  "create unique index deliveries_once on deliveries (webhook_id, run_id, sequence)",
  // By webhook: the many that wait for a receiver which is away are not in the way of the others. One by due time alone
  // would tempt PostgreSQL to wade through them.
  "create index deliveries_pending on deliveries (webhook_id, next_at, delivery_id) where state = 'pending'",
  "create index deliveries_leased on deliveries (lease_until) where lease_owner is not null",
  "create index deliveries_by_tenant on deliveries (tenant, delivery_id)",
  "create index deliveries_by_webhook on deliveries (webhook_id, delivery_id)",
  "create index deliveries_by_run on deliveries (run_id, delivery_id)",
  "create index deliveries_by_end on deliveries (state, finished_at) where finished_at is not null",
];
