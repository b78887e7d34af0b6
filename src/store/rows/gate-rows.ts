import type { Interrupt, InterruptStatus } from "../../protocol/gates/interrupt.ts";
import type {
  DeliveryRecord,
  DeliveryState,
  DeliveryWrite,
  ExternalEventRecord,
  StoredInterrupt,
  WebhookRecord,
} from "../port/gates.ts";
import type * as T from "../schema/gate-tables.ts";
import { startersIn } from "./starters.ts";

/** Rows of gates and webhooks to what the store returns, and back. */

export type InterruptColumns = Pick<
  T.InterruptsTable,
  "interrupt_id" | "tenant" | "workspace" | "run_id" | "workflow_id" | "started_by" | "status" | "body"
>;

export function toStoredInterrupt(row: InterruptColumns): StoredInterrupt {
  return {
    interruptId: row.interrupt_id,
    tenant: row.tenant,
    ...(row.workspace === null ? {} : { workspace: row.workspace }),
    runId: row.run_id,
    workflowId: row.workflow_id,
    starters: startersIn(row.started_by),
    status: row.status as InterruptStatus,
    interrupt: JSON.parse(row.body) as Interrupt,
  };
}

export function toExternalEvent(row: T.ExternalEventsTable): ExternalEventRecord {
  return {
    tenant: row.tenant,
    workspace: row.workspace,
    correlationId: row.correlation_id,
    eventId: row.event_id,
    eventType: row.event_type,
    state: row.state as ExternalEventRecord["state"],
    payload: row.payload,
    answer: row.answer,
    atMs: row.received_at,
    expiresAtMs: row.expires_at,
  };
}

export function externalEventRow(event: ExternalEventRecord): T.ExternalEventsTable {
  return {
    tenant: event.tenant,
    workspace: event.workspace,
    correlation_id: event.correlationId,
    event_id: event.eventId,
    event_type: event.eventType,
    state: event.state,
    payload: event.payload,
    answer: event.answer,
    received_at: event.atMs,
    expires_at: event.expiresAtMs,
  };
}

export function toWebhook(row: T.WebhooksTable): WebhookRecord {
  return {
    webhookId: row.webhook_id,
    tenant: row.tenant,
    ...(row.workspace === null ? {} : { workspace: row.workspace }),
    url: row.url,
    events: JSON.parse(row.events) as string[],
    tags: JSON.parse(row.tags) as string[],
    secret: row.secret,
    createdBy: row.created_by,
    createdAtMs: row.created_at,
    failures: row.failures,
    ...(row.failing_since === null ? {} : { failingSinceMs: row.failing_since }),
    ...(row.circuit_until === null ? {} : { circuitUntilMs: row.circuit_until }),
    ...(row.disabled_at === null ? {} : { disabledAtMs: row.disabled_at }),
  };
}

export function webhookRow(webhook: WebhookRecord): T.WebhooksTable {
  return {
    webhook_id: webhook.webhookId,
    tenant: webhook.tenant,
    workspace: webhook.workspace ?? null,
    url: webhook.url,
    events: JSON.stringify(webhook.events),
    tags: JSON.stringify(webhook.tags),
    secret: webhook.secret,
    created_by: webhook.createdBy,
    created_at: webhook.createdAtMs,
    failures: webhook.failures,
    failing_since: webhook.failingSinceMs ?? null,
    circuit_until: webhook.circuitUntilMs ?? null,
    disabled_at: webhook.disabledAtMs ?? null,
  };
}

/** The webhook of a delivery that has none: the callback of a run. */
export const CALLBACK = "";

export function toDelivery(row: T.DeliveriesTable): DeliveryRecord {
  return {
    deliveryId: row.delivery_id,
    tenant: row.tenant,
    ...(row.workspace === null ? {} : { workspace: row.workspace }),
    ...(row.webhook_id === CALLBACK ? {} : { webhookId: row.webhook_id }),
    ...(row.url === null ? {} : { url: row.url }),
    runId: row.run_id,
    sequence: row.sequence,
    eventType: row.event_type,
    ...(row.interrupt_id === null ? {} : { interruptId: row.interrupt_id }),
    atMs: row.created_at,
    state: row.state as DeliveryState,
    attempts: row.attempts,
    ...(row.next_at === null ? {} : { nextAtMs: row.next_at }),
    ...(row.last_status === null ? {} : { lastStatus: row.last_status }),
    ...(row.last_error === null ? {} : { lastError: row.last_error }),
    ...(row.finished_at === null ? {} : { finishedAtMs: row.finished_at }),
  };
}

type FreshDelivery = Omit<
  T.DeliveriesTable,
  "last_status" | "last_error" | "finished_at" | "lease_owner" | "lease_until"
>;

/** Due at once, in the order in which things happened. */
export function deliveryRow(tenant: string, delivery: DeliveryWrite): FreshDelivery {
  return {
    delivery_id: delivery.deliveryId,
    tenant,
    workspace: delivery.workspace ?? null,
    webhook_id: delivery.webhookId ?? CALLBACK,
    url: delivery.url ?? null,
    run_id: delivery.runId,
    sequence: delivery.sequence,
    event_type: delivery.eventType,
    interrupt_id: delivery.interruptId ?? null,
    created_at: delivery.atMs,
    state: "pending",
    attempts: 0,
    next_at: delivery.atMs,
  };
}
