import { listDeliveries, redeliver, testWebhook } from "../../engine/webhooks/deliveries.ts";
import { deleteWebhook, enableWebhook, listWebhooks, registerWebhook } from "../../engine/webhooks/manage-webhooks.ts";
import type { DeleteWebhookQuery, RedeliverRequest, RegisterWebhookRequest } from "../../protocol/webhooks/api.ts";
import type { DeliveryState } from "../../store/port/gates.ts";
import { callerOf, type Handler, type Reply, type RequestContext } from "../pipeline/handler.ts";

export const registerWebhookRoute: Handler = async (context) => {
  const request = context.body as RegisterWebhookRequest;
  return created(await registerWebhook(context.host, callerOf(context), request, context.recorder(created)));
};

function created(json: unknown): Reply {
  return { status: 201, json };
}

export const deleteWebhookRoute: Handler = async (context) => {
  const { host } = context;
  const caller = callerOf(context);
  const { tenantId } = context.query as DeleteWebhookQuery;
  const webhookId = webhookIdOf(context);
  await deleteWebhook(host, { caller, webhookId, tenantId, record: context.recorder(() => GONE) });
  return GONE;
};

const GONE: Reply = { status: 204, raw: "" };

export const listWebhooksRoute: Handler = async (context) => ok(await listWebhooks(context.host, callerOf(context)));

const DEFAULT_LIMIT = 50;

export const listDeliveriesRoute: Handler = async (context) => {
  const query = context.query as { limit?: number; cursor?: string; state?: DeliveryState };
  const asked = { ...query, webhookId: webhookIdOf(context), limit: query.limit ?? DEFAULT_LIMIT };
  return ok(await listDeliveries(context.host, callerOf(context), asked));
};

export const redeliverRoute: Handler = async (context) =>
  ok(await redeliver(context.host, callerOf(context), webhookIdOf(context), context.body as RedeliverRequest));

export const enableWebhookRoute: Handler = async (context) => {
  const { host } = context;
  const caller = callerOf(context);
  return ok(await enableWebhook(host, { caller, webhookId: webhookIdOf(context), record: context.recorder(ok) }));
};

export const testWebhookRoute: Handler = async (context) =>
  ok(await testWebhook(context.host, callerOf(context), webhookIdOf(context)));

function webhookIdOf({ params }: RequestContext): string {
  return params["webhookId"] ?? "";
}

function ok(json: unknown): Reply {
  return { status: 200, json };
}
