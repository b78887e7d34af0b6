import { Count, closed, Id, pageOf, ShortName, type Static, Timestamp, Type } from "../schema.ts";

/** Bodies of the webhook routes, and of what is delivered. */

export const WebhookUrl = Type.String({ minLength: 1, maxLength: 2048 });

export const RegisterWebhookRequest = Type.Object(
  {
    url: WebhookUrl,
    /** Types of the catalogue, `*` for all, or a family such as `approval.*`. */
    events: Type.Array(Id, { minItems: 1, maxItems: 100 }),
    tenantId: Type.Optional(ShortName),
    tags: Type.Optional(Type.Array(ShortName, { maxItems: 100 })),
    secret: Type.Optional(Type.String({ minLength: 16, maxLength: 256, pattern: "^[\\x21-\\x7e]+$" })),
  },
  closed,
);
export type RegisterWebhookRequest = Static<typeof RegisterWebhookRequest>;

/** The only place where the secret is ever shown. */
export const RegisterWebhookResponse = Type.Object(
  { webhookId: Type.String(), secret: Type.String(), secretFingerprint: Type.String() },
  closed,
);
export type RegisterWebhookResponse = Static<typeof RegisterWebhookResponse>;

export const DeleteWebhookQuery = Type.Object({ tenantId: Type.Optional(ShortName) }, closed);
export type DeleteWebhookQuery = Static<typeof DeleteWebhookQuery>;

export const WEBHOOK_STATES = ["active", "failing", "open-circuit", "disabled"] as const;

/** A webhook as it can be shown: without its secret. */
export const WebhookInfo = Type.Object(
  {
    webhookId: Type.String(),
    workspace: Type.Optional(Type.String()),
    url: Type.String(),
    events: Type.Array(Type.String()),
    tags: Type.Array(Type.String()),
    secretFingerprint: Type.String(),
    createdBy: Type.String(),
    createdAt: Timestamp,
    state: Type.Enum([...WEBHOOK_STATES]),
    /** Attempts that failed since the last one that did not. */
    failures: Count,
    failingSince: Type.Optional(Timestamp),
    /** While its circuit is open: when the next attempt is made. */
    circuitUntil: Type.Optional(Timestamp),
    disabledAt: Type.Optional(Timestamp),
  },
  closed,
);
export type WebhookInfo = Static<typeof WebhookInfo>;

export const ListWebhooksResponse = Type.Object({ webhooks: Type.Array(WebhookInfo) }, closed);
export type ListWebhooksResponse = Static<typeof ListWebhooksResponse>;

export const DeliveryStateName = Type.Enum(["pending", "delivered", "dead"]);

export const DeliveryInfo = Type.Object(
  {
    deliveryId: Type.String(),
    runId: Type.String(),
    sequence: Count,
    eventType: Type.String(),
    state: DeliveryStateName,
    attempts: Count,
    createdAt: Timestamp,
    nextAttemptAt: Type.Optional(Timestamp),
    lastStatus: Type.Optional(Type.Integer()),
    lastError: Type.Optional(Type.String()),
    finishedAt: Type.Optional(Timestamp),
  },
  closed,
);
export type DeliveryInfo = Static<typeof DeliveryInfo>;

export const ListDeliveriesResponse = pageOf("deliveries", DeliveryInfo);
export type ListDeliveriesResponse = Static<typeof ListDeliveriesResponse>;

/** Without a delivery: all of the webhook's that are dead. */
export const RedeliverRequest = Type.Object({ deliveryId: Type.Optional(Id) }, closed);
export type RedeliverRequest = Static<typeof RedeliverRequest>;

export const RedeliverResponse = Type.Object({ webhookId: Type.String(), redelivered: Count }, closed);
export type RedeliverResponse = Static<typeof RedeliverResponse>;

/** The receiver's response to a test delivery. */
export const TestWebhookResponse = Type.Object(
  {
    webhookId: Type.String(),
    delivered: Type.Boolean(),
    status: Type.Optional(Type.Integer()),
    error: Type.Optional(Type.String()),
  },
  closed,
);
export type TestWebhookResponse = Static<typeof TestWebhookResponse>;
