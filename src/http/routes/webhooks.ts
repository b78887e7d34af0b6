import { listDeliveries, redeliver, testWebhook } from "../../engine/webhooks/deliveries.ts";
import { deleteWebhook, enableWebhook, listWebhooks, registerWebhook } from "../../engine/webhooks/manage-webhooks.ts";
import type { WEBHOOK_OPERATIONS } from "../../protocol/webhooks/operations.ts";
import { type HandlersOf, recordedReply } from "../pipeline/handler.ts";
import { created, NO_CONTENT, ok } from "../pipeline/reply.ts";

const DEFAULT_LIMIT = 50;

export const WEBHOOK_ROUTES: HandlersOf<typeof WEBHOOK_OPERATIONS> = {
  registerWebhook: (context) =>
    recordedReply(context, created, (record) => registerWebhook(context.host, context.caller, context.body, record)),
  deleteWebhook: async (context) => {
    const { host, caller, params, query } = context;
    const record = context.recorder(() => NO_CONTENT);
    await deleteWebhook(host, { caller, ...params, tenantId: query.tenantId, record });
    return NO_CONTENT;
  },
  listWebhooks: async ({ host, caller }) => ok(await listWebhooks(host, caller)),
  listDeliveries: async ({ host, caller, params, query: { limit = DEFAULT_LIMIT, ...query } }) =>
    ok(await listDeliveries(host, caller, { ...query, ...params, limit })),
  redeliver: async ({ host, caller, params, body }) => ok(await redeliver(host, caller, params.webhookId, body)),
  enableWebhook: (context) =>
    recordedReply(context, ok, (record) => {
      return enableWebhook(context.host, { caller: context.caller, ...context.params, record });
    }),
  testWebhook: async ({ host, caller, params }) => ok(await testWebhook(host, caller, params.webhookId)),
};
