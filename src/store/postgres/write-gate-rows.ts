import type { WebhookWrite } from "../port/gates.ts";
import { runDeletes } from "../read/delete-run.ts";
import { deliveryRow, webhookRow } from "../rows/gate-rows.ts";
import type { PreparedUnit } from "./prepare-unit.ts";
import { prepared } from "./prepared.ts";
import { newest } from "./row-order.ts";
import { insertInto, type Statement, update } from "./statements.ts";

/** What follows from the logs about gates, then webhooks and their outbox: nothing a unit could be refused for. */
export function writeGateRows(units: readonly PreparedUnit[]): Statement[] {
  const changes = units.flatMap(({ runs }) => runs.map(({ interrupts }) => interrupts));
  const interrupts = changes.flatMap((change) => change.interrupts);
  const voted = newest(
    changes.flatMap((change) => change.voted),
    ({ interruptId }) => [interruptId],
  );
  const webhooks = units.flatMap(({ unit }) => (unit.webhooks ?? []).map((write) => ({ tenant: unit.tenant, write })));
  const deliveries = units.flatMap(({ unit }) => (unit.deliveries ?? []).map((one) => deliveryRow(unit.tenant, one)));
  return [
    ...putInterrupts(newest(interrupts, (row) => [row.interrupt_id])),
    ...deleteVotes(voted.map(({ interruptId }) => interruptId)),
    ...insertVotes(voted.flatMap(({ votes }) => votes)),
    ...dropInterrupts(changes.flatMap(({ dropped }) => dropped ?? [])),
    // Before any webhook: whoever finishes an attempt locks the delivery, then the webhook.
    ...webhooks.flatMap(({ tenant, write }) => (write.type === "delete" ? deleteUndelivered(tenant, write) : [])),
    ...webhooks.flatMap(({ tenant, write }) => webhookStatements(tenant, write)),
    // In the order they came, because of two for the same event the first stays.
    ...insertDeliveries(deliveries),
  ];
}

const EXTERNAL_EVENT = {
  tenant: "text",
  workspace: "text",
  correlation_id: "text",
  event_id: "text",
  event_type: "text",
  state: "text",
  payload: "text",
  answer: "text",
  received_at: "bigint",
  expires_at: "bigint",
} as const;
const EXTERNAL_EVENT_KEY = ["tenant", "workspace", "correlation_id", "event_id"] as const;
export const updateExternalEvents = update("external_events", EXTERNAL_EVENT, EXTERNAL_EVENT_KEY);
export const insertExternalEvents = insertInto("external_events", EXTERNAL_EVENT);

const INTERRUPT = {
  interrupt_id: "text",
  tenant: "text",
  workspace: "text",
  run_id: "text",
  workflow_id: "text",
  node_id: "text",
  kind: "text",
  status: "text",
  started_by: "text",
  requested_at: "bigint",
  deadline: "bigint",
  correlation_id: "text",
  event_type: "text",
  outcome: "text",
  reason: "text",
  overridden: "integer",
  decided_by: "text",
  closed_at: "bigint",
  body: "text",
} as const;
const putInterrupts = insertInto(
  "interrupts",
  INTERRUPT,
  `on conflict (interrupt_id) do update set ${replaced(INTERRUPT)} where interrupts.run_id = excluded.run_id`,
);

const DELETE_VOTES = "delete from interrupt_votes where interrupt_id = any($1)";

function deleteVotes(interruptIds: readonly string[]): Statement[] {
  return interruptIds.length === 0 ? [] : [{ ...prepared("delete votes", DELETE_VOTES), values: [interruptIds] }];
}

const { deleteVotesOfRun, deleteInterrupts } = runDeletes({ run: "$1::text", tenant: "$2::text", last: "" });
const DROPS = [
  prepared("drop votes of run", deleteVotesOfRun),
  prepared("drop interrupts of run", deleteInterrupts),
] as const;

function dropInterrupts(dropped: readonly { readonly runId: string; readonly tenant: string }[]): Statement[] {
  return dropped.flatMap(({ runId, tenant }) => DROPS.map((one) => ({ ...one, values: [runId, tenant] })));
}

const insertVotes = insertInto("interrupt_votes", {
  interrupt_id: "text",
  voter: "text",
  tenant: "text",
  workspace: "text",
  workflow_id: "text",
  node_id: "text",
  principal: "text",
  action: "text",
  override: "integer",
  opened_at: "bigint",
  voted_at: "bigint",
} as const);

const WEBHOOK = {
  webhook_id: "text",
  tenant: "text",
  workspace: "text",
  url: "text",
  events: "text",
  tags: "text",
  secret: "text",
  created_by: "text",
  created_at: "bigint",
  failures: "integer",
  failing_since: "bigint",
  circuit_until: "bigint",
  disabled_at: "bigint",
} as const;
const putWebhooks = insertInto(
  "webhooks",
  WEBHOOK,
  `on conflict (webhook_id) do update set ${replaced(WEBHOOK)} where webhooks.tenant = excluded.tenant`,
);

const DELETE_UNDELIVERED = "delete from deliveries where webhook_id = $1 and tenant = $2 and state = 'pending'";

function deleteUndelivered(tenant: string, { webhookId }: Extract<WebhookWrite, { type: "delete" }>): Statement[] {
  return [{ ...prepared("delete undelivered", DELETE_UNDELIVERED), values: [webhookId, tenant] }];
}

const DELETE_WEBHOOK = "delete from webhooks where webhook_id = $1 and tenant = $2";

const ENABLE_WEBHOOK = `update webhooks set failures = 0, failing_since = null, circuit_until = null, disabled_at = null
  where webhook_id = $1 and tenant = $2`;

/** One by one, because their order matters. */
function webhookStatements(tenant: string, write: WebhookWrite): Statement[] {
  switch (write.type) {
    case "put":
      return putWebhooks([webhookRow(write.webhook)]);
    case "delete":
      return [{ ...prepared("delete webhook", DELETE_WEBHOOK), values: [write.webhookId, tenant] }];
    case "enable":
      return [{ ...prepared("enable webhook", ENABLE_WEBHOOK), values: [write.webhookId, tenant] }];
  }
}

/** Only for a webhook that is there and the tenant's own. */
const insertDeliveries = insertInto(
  "deliveries",
  {
    delivery_id: "text",
    tenant: "text",
    workspace: "text",
    webhook_id: "text",
    url: "text",
    run_id: "text",
    sequence: "integer",
    event_type: "text",
    interrupt_id: "text",
    created_at: "bigint",
    state: "text",
    attempts: "integer",
    next_at: "bigint",
  } as const,
  `where webhook_id = '' or exists (
    select 1 from webhooks where webhooks.webhook_id = given.webhook_id and webhooks.tenant = given.tenant)
  on conflict (webhook_id, run_id, sequence) do nothing`,
);

function replaced(columns: Readonly<Record<string, string>>): string {
  return Object.keys(columns)
    .map((column) => `${column} = excluded.${column}`)
    .join(", ");
}
