import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import { isId } from "../../protocol/id.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type {
  ListDeliveriesResponse,
  RedeliverRequest,
  RedeliverResponse,
  TestWebhookResponse,
} from "../../protocol/webhooks/api.ts";
import type { DeliveryState } from "../../store/port/gates.ts";
import { auditDraft } from "../execute.ts";
import type { Host } from "../host.ts";
import { visibilityOf, visibleWebhook } from "./manage-webhooks.ts";
import { isDelivered } from "./retry-policy.ts";
import { sendToWebhook } from "./send-delivery.ts";
import { deliveryInfo } from "./webhook-info.ts";

interface DeliveriesAsked {
  readonly webhookId: string;
  readonly limit: number;
  readonly cursor?: string;
  readonly state?: DeliveryState;
}

/** A page, newest first. A cursor is the id of the last delivery of the page before. */
export async function listDeliveries(
  host: Host,
  caller: Caller,
  { webhookId, limit, cursor, state }: DeliveriesAsked,
): Promise<ListDeliveriesResponse> {
  if (cursor !== undefined && !isId(cursor)) {
    throw new AppError("validation_error", { problem: "cursor is not one this host gave out" });
  }
  await visibleWebhook(host, caller, webhookId);
  const found = await host.store.listDeliveries(
    visibilityOf(caller),
    defined({ webhookId, limit: limit + 1, before: cursor, state }),
  );
  const deliveries = found.slice(0, limit).map(deliveryInfo);
  const last = deliveries.at(-1);
  return found.length > limit && last ? { deliveries, nextCursor: last.deliveryId } : { deliveries };
}

/** Gives dead deliveries all their attempts again. Throws `not_found` when the one that is named is not dead. */
export async function redeliver(
  host: Host,
  caller: Caller,
  webhookId: string,
  { deliveryId }: RedeliverRequest,
): Promise<RedeliverResponse> {
  const { disabledAtMs } = await visibleWebhook(host, caller, webhookId);
  if (disabledAtMs !== undefined) {
    throw new AppError("validation_error", { problem: "the webhook is disabled; enable it first", webhookId });
  }
  // A text that is no id names nothing, and must not get into the audit log: it may be anything, also a secret.
  if (deliveryId !== undefined && !isId(deliveryId)) throw notDead(deliveryId);
  const nowMs = host.nowMs();
  const details = defined({ deliveryId });
  // First, so that nothing is ever sent again without a word of who wanted it.
  await host.store.commit({
    tenant: caller.tenant,
    audit: [auditDraft(caller, nowMs, webhookId, { action: "webhook.redelivery_requested", details })],
  });
  const which = deliveryId === undefined ? { webhookId } : { webhookId, deliveryId };
  const redelivered = await host.store.redeliver(visibilityOf(caller), which, nowMs);
  if (redelivered === 0 && deliveryId !== undefined) {
    throw notDead(deliveryId);
  }
  return { webhookId, redelivered };
}

function notDead(deliveryId: string): AppError {
  return new AppError("not_found", { what: "dead delivery of this id", deliveryId });
}

const TEST_EVENT = "assay.webhook.test";

/** Sends a delivery like any other, except that it is about no run and is sent once. The webhook's state stays as it is. */
export async function testWebhook(host: Host, caller: Caller, webhookId: string): Promise<TestWebhookResponse> {
  const webhook = await visibleWebhook(host, caller, webhookId);
  const nowMs = host.nowMs();
  const event = {
    eventId: host.newId("evt"),
    runId: "test",
    type: TEST_EVENT,
    payload: { webhookId },
    timestamp: new Date(nowMs).toISOString(),
    sequence: 0,
  };
  const body = Buffer.from(JSON.stringify({ type: TEST_EVENT, runId: event.runId, event }));
  const message = { deliveryId: host.newId("dlv"), eventType: TEST_EVENT, body };
  const answer = await sendToWebhook(host.outbound, webhook, message, { nowMs });
  const seen = "status" in answer ? { status: answer.status } : { error: answer.failure };
  return { webhookId, delivered: isDelivered(answer), ...seen };
}
