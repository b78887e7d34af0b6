import { operations } from "../operation.ts";
import { Cursor, closed, Limit, Type } from "../schema.ts";
import {
  DeleteWebhookQuery,
  DeliveryStateName,
  ListDeliveriesResponse,
  ListWebhooksResponse,
  RedeliverRequest,
  RedeliverResponse,
  RegisterWebhookRequest,
  RegisterWebhookResponse,
  TestWebhookResponse,
  WebhookInfo,
} from "./api.ts";

const common = { tag: "webhooks", capability: "webhooks", access: "webhooks:manage" } as const;

/** Webhooks and their deliveries. */
export const WEBHOOK_OPERATIONS = operations(common, {
  registerWebhook: {
    method: "POST",
    path: "/v1/webhooks",
    summary: "Have events of the tenant's runs posted to a URL. The signing secret is shown once.",
    body: RegisterWebhookRequest,
    idempotent: "one",
    success: { status: 201, schema: RegisterWebhookResponse },
    errors: ["webhook_url_rejected", "tenant_mismatch"],
  },
  deleteWebhook: {
    method: "DELETE",
    path: "/v1/webhooks/{webhookId}",
    summary: "Remove a webhook; its undelivered deliveries are dropped.",
    query: DeleteWebhookQuery,
    idempotent: "one",
    success: { status: 204 },
    errors: ["tenant_mismatch", "subscription_not_found"],
  },
  listWebhooks: {
    method: "GET",
    path: "/v1/host/assay/webhooks",
    summary: "The webhooks this key can see, without their secrets.",
    success: { status: 200, schema: ListWebhooksResponse },
  },
  listDeliveries: {
    method: "GET",
    path: "/v1/host/assay/webhooks/{webhookId}/deliveries",
    summary: "What was and will be delivered to a webhook, newest first.",
    query: Type.Object(
      {
        state: Type.Optional(DeliveryStateName),
        cursor: Cursor,
        limit: Limit,
      },
      closed,
    ),
    success: { status: 200, schema: ListDeliveriesResponse },
    errors: ["subscription_not_found"],
  },
  redeliver: {
    method: "POST",
    path: "/v1/host/assay/webhooks/{webhookId}:redeliver",
    summary: "Try dead deliveries anew: one, or all of the webhook.",
    body: RedeliverRequest,
    success: { status: 200, schema: RedeliverResponse },
    errors: ["subscription_not_found"],
  },
  enableWebhook: {
    method: "POST",
    path: "/v1/host/assay/webhooks/{webhookId}:enable",
    summary: "Let a webhook that was disabled, or whose circuit is open, have deliveries again.",
    idempotent: "one",
    success: { status: 200, schema: WebhookInfo },
    errors: ["subscription_not_found"],
  },
  testWebhook: {
    method: "POST",
    path: "/v1/host/assay/webhooks/{webhookId}:test",
    summary: "Send a signed delivery of type assay.webhook.test now, and return its outcome.",
    success: { status: 200, schema: TestWebhookResponse },
    errors: ["subscription_not_found"],
  },
});
