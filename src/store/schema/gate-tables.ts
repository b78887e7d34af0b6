/** The tables of gates and webhooks; see `tables.ts`. */

/** Derived from run_events in the append's transaction, one row for each interrupt that was ever raised. */
export interface InterruptsTable {
  interrupt_id: string; // primary key
  tenant: string;
  workspace: string | null;
  run_id: string;
  workflow_id: string;
  node_id: string;
  kind: string;
  status: string;
  /** The principal who started the run. */
  started_by: string | null;
  requested_at: number;
  deadline: number | null;
  correlation_id: string | null;
  /** What an external-event interrupt waits for. */
  event_type: string | null;
  outcome: string | null;
  reason: string | null;
  /** 1 when somebody took the override path. */
  overridden: number;
  decided_by: string | null;
  closed_at: number | null;
  /** JSON of the folded Interrupt. */
  body: string;
}

/** Derived like `interrupts`: the votes that count now. Primary key (interrupt_id, voter). */
export interface InterruptVotesTable {
  interrupt_id: string;
  voter: string;
  tenant: string;
  workspace: string | null;
  workflow_id: string;
  node_id: string;
  principal: string;
  action: string;
  override: number;
  /** When the gate was opened. */
  opened_at: number;
  voted_at: number;
}

/** Primary key (tenant, workspace, correlation_id, event_id); workspace "" is a sender bound to none. */
export interface ExternalEventsTable {
  tenant: string;
  workspace: string;
  correlation_id: string;
  event_id: string;
  event_type: string;
  state: string;
  payload: string;
  answer: string;
  received_at: number;
  expires_at: number;
}

export interface WebhooksTable {
  webhook_id: string; // primary key
  tenant: string;
  workspace: string | null;
  url: string;
  /** JSON array. */
  events: string;
  /** JSON array. */
  tags: string;
  secret: string;
  created_by: string;
  created_at: number;
  failures: number;
  failing_since: number | null;
  circuit_until: number | null;
  disabled_at: number | null;
}

/** The outbox. Unique (webhook_id, run_id, sequence). A lease exists only while the delivery is pending. */
export interface DeliveriesTable {
  delivery_id: string; // primary key
  tenant: string;
  workspace: string | null;
  /** "" for the callback of a run, so that these are unique as well. */
  webhook_id: string;
  url: string | null;
  run_id: string;
  sequence: number;
  event_type: string;
  interrupt_id: string | null;
  created_at: number;
  state: string;
  attempts: number;
  next_at: number | null;
  last_status: number | null;
  last_error: string | null;
  finished_at: number | null;
  lease_owner: string | null;
  lease_until: number | null;
}
