import type { ErrorCode } from "../errors.ts";
import { BODY, KEYED, type Operation, PROTECTED } from "../operation.ts";
import { Type } from "../schema.ts";
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

/** Every route answers `not_found` while webhooks are switched off. */
const SERVED: readonly ErrorCode[] = [...PROTECTED, "not_found"];
const gate = { capability: "webhooks", off: "not_found" } as const;
const access = "webhooks:manage" as const;
const tag = "webhooks";

export const WEBHOOK_OPERATIONS = {
  registerWebhook: {
    method: "POST",
    path: "/v1/webhooks",
    tag,
    summary: "Have events of the tenant's runs posted to a URL. The signing secret is shown once.",
    access,
    gate,
    body: RegisterWebhookRequest,
    idempotent: "one",
    success: { status: 201, schema: RegisterWebhookResponse },
    errors: [...SERVED, ...KEYED, ...BODY, "webhook_url_rejected", "tenant_mismatch"],
  },
  deleteWebhook: {
    method: "DELETE",
    path: "/v1/webhooks/{webhookId}",
    tag,
    summary: "Remove a webhook; its undelivered deliveries are dropped.",
    access,
    gate,
    query: DeleteWebhookQuery,
    idempotent: "one",
    success: { status: 204 },
    errors: [...SERVED, ...KEYED, "tenant_mismatch", "subscription_not_found"],
  },
  listWebhooks: {
    method: "GET",
    path: "/v1/host/assay/webhooks",
    tag,
    summary: "The webhooks this key can see, without their secrets.",
    access,
    gate,
    success: { status: 200, schema: ListWebhooksResponse },
    errors: [...SERVED],
  },
  listDeliveries: {
    method: "GET",
    path: "/v1/host/assay/webhooks/{webhookId}/deliveries",
    tag,
    summary: "What was and will be delivered to a webhook, newest first.",
    access,
    gate,
    query: Type.Object(
      {
        state: Type.Optional(DeliveryStateName),
        cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
      },
      { additionalProperties: false },
    ),
    success: { status: 200, schema: ListDeliveriesResponse },
    errors: [...SERVED, "subscription_not_found", "validation_error"],
  },
  redeliver: {
    method: "POST",
    path: "/v1/host/assay/webhooks/{webhookId}:redeliver",
    tag,
    summary: "Try dead deliveries anew: one, or all of the webhook.",
    access,
    gate,
    body: RedeliverRequest,
    success: { status: 200, schema: RedeliverResponse },
    errors: [...SERVED, ...BODY, "subscription_not_found"],
  },
  enableWebhook: {
    method: "POST",
    path: "/v1/host/assay/webhooks/{webhookId}:enable",
    tag,
    summary: "Let a webhook that was disabled, or whose circuit is open, have deliveries again.",
    access,
    gate,
    idempotent: "one",
    success: { status: 200, schema: WebhookInfo },
    errors: [...SERVED, ...KEYED, "subscription_not_found"],
  },
  testWebhook: {
    method: "POST",
    path: "/v1/host/assay/webhooks/{webhookId}:test",
    tag,
    summary: "Send a signed delivery of type assay.webhook.test now, and return its outcome.",
    access,
    gate,
    success: { status: 200, schema: TestWebhookResponse },
    errors: [...SERVED, "subscription_not_found"],
  },
} as const satisfies Record<string, Operation>;
