import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import { isId } from "../../protocol/id.ts";
import { type Caller, visibilityOf } from "../../protocol/identity/identity.ts";
import { isoOf } from "../../protocol/instant.ts";
import type {
  ListDeliveriesResponse,
  RedeliverRequest,
  RedeliverResponse,
  TestWebhookResponse,
} from "../../protocol/webhooks/api.ts";
import type { DeliveryState } from "../../store/port/gates.ts";
import { auditDraft } from "../execute.ts";
import type { Host } from "../host.ts";
import { pageOf, unknownCursor } from "../shared/page.ts";
import { deliveryInfo, visibleWebhook } from "./manage-webhooks.ts";
import { isDelivered } from "./retry-policy.ts";
import { sendToWebhook } from "./send-delivery.ts";

interface DeliveriesAsked {
  readonly webhookId: string;
  readonly limit: number;
  readonly cursor?: string;
  readonly state?: DeliveryState;
}

/** A page of deliveries, newest first. The cursor is the id of the last delivery of the page before. */
export async function listDeliveries(
  host: Host,
  caller: Caller,
  { webhookId, limit, cursor, state }: DeliveriesAsked,
): Promise<ListDeliveriesResponse> {
  if (cursor !== undefined && !isId(cursor)) throw unknownCursor();
  await visibleWebhook(host, caller, webhookId);
  const query = defined({ webhookId, limit: limit + 1, before: cursor, state });
  const found = await host.store.listDeliveries(visibilityOf(caller), query);
  const { page, next } = pageOf(found, limit, ({ deliveryId }) => deliveryId);
  return { deliveries: page.map(deliveryInfo), ...next };
}

/** Gives dead deliveries all their attempts again. Throws `not_found` where the named one is not dead. */
export async function redeliver(
  host: Host,
  caller: Caller,
  webhookId: string,
  { deliveryId }: RedeliverRequest,
): Promise<RedeliverResponse> {
  const { disabledAtMs } = await visibleWebhook(host, caller, webhookId);
  if (disabledAtMs !== undefined) throw validationError("the webhook is disabled; enable it first", { webhookId });
  // A text that is no id must not get into the audit log: it may be a secret.
  if (deliveryId !== undefined && !isId(deliveryId)) throw notDead(deliveryId);
  const nowMs = host.nowMs();
  const details = defined({ deliveryId });
  // Recorded first, so that each repeated delivery has an audit entry.
  await host.store.commit({
    tenant: caller.tenant,
    audit: [auditDraft(caller, nowMs, webhookId, { action: "webhook.redelivery_requested", details })],
  });
  const redelivered = await host.store.redeliver(visibilityOf(caller), defined({ webhookId, deliveryId }), nowMs);
  if (redelivered === 0 && deliveryId !== undefined) throw notDead(deliveryId);
  return { webhookId, redelivered };
}

function notDead(deliveryId: string): AppError {
  return new AppError("not_found", { what: "dead delivery of this id", deliveryId });
}

const TEST_EVENT = "assay.webhook.test";

/** Sends one delivery that is about no run. The state of the webhook does not change. */
export async function testWebhook(host: Host, caller: Caller, webhookId: string): Promise<TestWebhookResponse> {
  const webhook = await visibleWebhook(host, caller, webhookId);
  const nowMs = host.nowMs();
  const origin = { eventId: host.newId("evt"), runId: "test", type: TEST_EVENT };
  const event = { ...origin, payload: { webhookId }, timestamp: isoOf(nowMs), sequence: 0 };
  const body = Buffer.from(JSON.stringify({ type: TEST_EVENT, runId: event.runId, event }));
  const message = { deliveryId: host.newId("dlv"), eventType: TEST_EVENT, body };
  const answer = await sendToWebhook(host.outbound, webhook, message, { nowMs });
  const seen = "status" in answer ? { status: answer.status } : { error: answer.failure };
  return { webhookId, delivered: isDelivered(answer), ...seen };
}
