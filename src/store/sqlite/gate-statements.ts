import type * as T from "../schema/gate-tables.ts";

/** The order in which values are bound, and columns named. */
export const INTERRUPT_COLUMNS = [
  "interrupt_id",
  "tenant",
  "workspace",
  "run_id",
  "workflow_id",
  "node_id",
  "kind",
  "status",
  "started_by",
  "requested_at",
  "deadline",
  "correlation_id",
  "event_type",
  "outcome",
  "reason",
  "overridden",
  "decided_by",
  "closed_at",
  "body",
] as const satisfies readonly (keyof T.InterruptsTable)[];

export const VOTE_COLUMNS = [
  "interrupt_id",
  "voter",
  "tenant",
  "workspace",
  "workflow_id",
  "node_id",
  "principal",
  "action",
  "override",
  "opened_at",
  "voted_at",
] as const satisfies readonly (keyof T.InterruptVotesTable)[];

export const EXTERNAL_EVENT_COLUMNS = [
  "tenant",
  "workspace",
  "correlation_id",
  "event_id",
  "event_type",
  "state",
  "payload",
  "answer",
  "received_at",
  "expires_at",
] as const satisfies readonly (keyof T.ExternalEventsTable)[];

export const WEBHOOK_COLUMNS = [
  "webhook_id",
  "tenant",
  "workspace",
  "url",
  "events",
  "tags",
  "secret",
  "created_by",
  "created_at",
  "failures",
  "failing_since",
  "circuit_until",
  "disabled_at",
] as const satisfies readonly (keyof T.WebhooksTable)[];

export const DELIVERY_COLUMNS = [
  "delivery_id",
  "tenant",
  "workspace",
  "webhook_id",
  "url",
  "run_id",
  "sequence",
  "event_type",
  "interrupt_id",
  "created_at",
  "state",
  "attempts",
  "next_at",
] as const satisfies readonly (keyof T.DeliveriesTable)[];

export const FINISHED_COLUMNS = [
  "state",
  "attempts",
  "next_at",
  "last_status",
  "last_error",
  "finished_at",
] as const satisfies readonly (keyof T.DeliveriesTable)[];

/** What units and attempts write of gates and webhooks. `flatten-gates.ts` gives the values. */
export const GATE_WRITES = {
  putInterrupt: `${insertInto("interrupts", INTERRUPT_COLUMNS)}
    on conflict (interrupt_id) do update set ${replaced(INTERRUPT_COLUMNS)} where run_id = excluded.run_id`,
  deleteVotes: "delete from interrupt_votes where interrupt_id = ?",
  insertVote: insertInto("interrupt_votes", VOTE_COLUMNS),
  putExternalEvent: `${insertInto("external_events", EXTERNAL_EVENT_COLUMNS)}
    on conflict (tenant, workspace, correlation_id, event_id) do update set ${replaced(EXTERNAL_EVENT_COLUMNS)}`,
  deliverExternalEvent: `update external_events set state = 'delivered', payload = '{}', answer = ?, expires_at = ?
    where tenant = ? and workspace = ? and correlation_id = ? and event_id = ?`,
  putWebhook: `${insertInto("webhooks", WEBHOOK_COLUMNS)}
    on conflict (webhook_id) do update set ${replaced(WEBHOOK_COLUMNS)} where tenant = excluded.tenant`,
  deleteUndelivered: "delete from deliveries where webhook_id = ? and tenant = ? and state = 'pending'",
  deleteWebhook: "delete from webhooks where webhook_id = ? and tenant = ?",
  enableWebhook: `update webhooks set failures = 0, failing_since = null, circuit_until = null, disabled_at = null
    where webhook_id = ? and tenant = ?`,
  // Only for a webhook that is there and the tenant's own.
  insertDelivery: `insert into deliveries (${DELIVERY_COLUMNS})
    select * from (select ${DELIVERY_COLUMNS.map((column) => `? as ${column}`)}) as given
    where webhook_id = '' or exists (
      select 1 from webhooks where webhooks.webhook_id = given.webhook_id and webhooks.tenant = given.tenant)
    on conflict (webhook_id, run_id, sequence) do nothing`,
  finishDelivery: `update deliveries set ${FINISHED_COLUMNS.map((column) => `${column} = ?`)},
    lease_owner = null, lease_until = null where delivery_id = ? and lease_owner = ?`,
  setWebhookHealth: `update webhooks set failures = ?, failing_since = ?, circuit_until = ?,
    disabled_at = coalesce(?, disabled_at) where webhook_id = ?`,
} as const;

export const GATE_READS = {
  externalEvent: `select * from external_events
    where tenant = ? and workspace = ? and correlation_id = ? and event_id = ?`,
} as const;

function insertInto(table: string, columns: readonly string[]): string {
  return `insert into ${table} (${columns}) values (${columns.map(() => "?")})`;
}

function replaced(columns: readonly string[]): string {
  return columns.map((column) => `${column} = excluded.${column}`).join(", ");
}
