import type { WebhookWrite } from "../port/gates.ts";
import { runDeletes } from "../read/delete-run.ts";
import { deliveryRow } from "../rows/gate-rows.ts";
import { interrupts, interruptVotes } from "../schema/gates.ts";
import { replacing } from "../schema/table.ts";
import { deliveries, webhooks } from "../schema/webhooks.ts";
import type { PreparedUnit } from "../units/prepare-unit.ts";
import { prepared } from "./prepared.ts";
import { insertInto, newest, type Statement, statement } from "./statements.ts";

/** What follows from the logs about gates, then webhooks and their outbox: nothing a unit could be refused for. */
export function writeGateRows(units: readonly PreparedUnit[]): Statement[] {
  const changes = units.flatMap(({ runs }) => runs.map((run) => run.interrupts));
  const rows = changes.flatMap((change) => change.interrupts);
  const voted = newest(
    changes.flatMap((change) => change.voted),
    ({ interruptId }) => [interruptId],
  );
  const writes = units.flatMap(({ unit }) => (unit.webhooks ?? []).map((write) => ({ tenant: unit.tenant, write })));
  return [
    ...putInterrupts(newest(rows, (row) => [row.interrupt_id])),
    ...statement(
      DELETE_VOTES,
      voted.map(({ interruptId }) => interruptId),
    ),
    ...insertVotes(voted.flatMap(({ votes }) => votes)),
    ...changes.flatMap(({ dropped }) =>
      dropped === undefined ? [] : DROPS.flatMap((one) => statement(one, dropped.runId, dropped.tenant)),
    ),
    // Before any webhook: the end of an attempt locks the delivery, then the webhook.
    ...writes.flatMap(({ tenant, write }) =>
      write.type === "delete" ? statement(DELETE_UNDELIVERED, write.webhookId, tenant) : [],
    ),
    ...writes.flatMap(({ tenant, write }) => webhookStatements(tenant, write)),
    // In the order they came, because of two for the same event the first stays.
    ...insertDeliveries(
      units.flatMap(({ unit }) => (unit.deliveries ?? []).map((one) => deliveryRow(unit.tenant, one))),
    ),
  ];
}

const putInterrupts = insertInto(interrupts, replacing(interrupts, { where: "interrupts.run_id = excluded.run_id" }));
const insertVotes = insertInto(interruptVotes);
const DELETE_VOTES = prepared("delete votes", "delete from interrupt_votes where interrupt_id = any($1)");

const { deleteVotesOfRun, deleteInterrupts } = runDeletes({ run: "$1::text", tenant: "$2::text", last: "" });
const DROPS = [
  prepared("drop votes of run", deleteVotesOfRun),
  prepared("drop interrupts of run", deleteInterrupts),
] as const;

const putWebhooks = insertInto(webhooks, replacing(webhooks, { where: "webhooks.tenant = excluded.tenant" }));
const DELETE_WEBHOOK = prepared("delete webhook", "delete from webhooks where webhook_id = $1 and tenant = $2");
const DELETE_UNDELIVERED = prepared(
  "delete undelivered",
  "delete from deliveries where webhook_id = $1 and tenant = $2 and state = 'pending'",
);
const ENABLE_WEBHOOK = prepared(
  "enable webhook",
  `update webhooks set failures = 0, failing_since = null, circuit_until = null, disabled_at = null
  where webhook_id = $1 and tenant = $2`,
);

/** One by one, because their order matters. */
function webhookStatements(tenant: string, write: WebhookWrite): Statement[] {
  if (write.type === "put") return putWebhooks([webhooks.toRow(write.webhook)]);
  return statement(write.type === "delete" ? DELETE_WEBHOOK : ENABLE_WEBHOOK, write.webhookId, tenant);
}

/** Only for a webhook that is there and the tenant's own. */
const insertDeliveries = insertInto(
  deliveries,
  `where webhook_id = '' or exists (
    select 1 from webhooks where webhooks.webhook_id = given.webhook_id and webhooks.tenant = given.tenant)
  on conflict (webhook_id, run_id, sequence) do nothing`,
);
