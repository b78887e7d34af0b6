import type { Authorizer } from "../../engine/identity/roles.ts";
import { deleteWebhook, listWebhooks, registerWebhook } from "../../engine/webhooks/manage-webhooks.ts";
import { advertises } from "../../protocol/advertised.ts";
import type { Discovery } from "../../protocol/discovery.ts";
import { AppError } from "../../protocol/errors.ts";
import { parse, Type } from "../../protocol/schema.ts";
import { RegisterWebhookRequest } from "../../protocol/webhooks/api.ts";
import { callerOf, type Handler, type Reply, type RequestContext } from "../pipeline/handler.ts";

type Fields = Readonly<Record<string, unknown>>;
type Act = (context: RequestContext, given: Fields) => Promise<unknown>;

/** The operations on webhooks, by the functions that the real routes use. */
const WEBHOOK_OPS: Readonly<Record<string, Act>> = {
  register: (context, given) =>
    registerWebhook(context.host, callerOf(context), parse(RegisterWebhookRequest, given, "body")),
  list: (context) => listWebhooks(context.host, callerOf(context)),
  unregister: async (context, given) => {
    const { webhookId } = parse(WebhookName, given, "body");
    await deleteWebhook(context.host, { caller: callerOf(context), webhookId, record: () => undefined });
    return { webhookId, unregistered: true };
  },
};

const WebhookName = Type.Object({ webhookId: Type.String({ minLength: 1, maxLength: 256 }) });

/** Whether discovery advertises a surface; with `op`, an operation on it, as far as the caller may. */
export function seamSurfaceRoute(discovery: () => Discovery, authorizer: Pick<Authorizer, "authorize">): Handler {
  return async (context) => {
    const { surface, op, args, ...rest } = context.body as Fields & { readonly surface: string; readonly op?: string };
    if (!advertises(discovery(), surface))
      throw new AppError("not_found", { what: `surface ${JSON.stringify(surface)}` });
    if (op === undefined) return ok({ surface, supported: true });
    const ops = /^(host\.)?webhooks$/.test(surface) ? WEBHOOK_OPS : {};
    const act = Object.hasOwn(ops, op) ? ops[op] : undefined;
    if (act === undefined) {
      const known = Object.keys(ops).join(", ") || "none";
      throw new AppError("validation_error", { problem: `body/op is not served for this surface; it has: ${known}` });
    }
    await authorizer.authorize(callerOf(context), "webhooks:manage");
    const given = typeof args === "object" && args !== null ? (args as Fields) : rest;
    return ok({ surface, op, ...((await act(context, given)) as object) });
  };
}

function ok(json: unknown): Reply {
  return { status: 200, json };
}
