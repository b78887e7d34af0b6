import { createKey, type KeyHost, keyPages, revokeKey } from "../../engine/identity/keys.ts";
import type { CreateKeyRequest } from "../../protocol/runs/api.ts";
import { callerOf, type Handler, type Reply } from "../pipeline/handler.ts";
import { jsonPages, sendList } from "../pipeline/send-list.ts";

export const whoAmIRoute: Handler<unknown> = (context) => {
  const { tenant, workspace, principal, kind, roles, groups, keyScopes } = callerOf(context);
  const bound = workspace === undefined ? {} : { workspace };
  return ok({ tenant, ...bound, principal, kind, roles, groups, scopes: keyScopes });
};

export const createKeyRoute: Handler<KeyHost> = async (context) => {
  const record = context.recorder(created);
  return created(await createKey(context.host, callerOf(context), context.body as CreateKeyRequest, record));
};

export const listKeysRoute: Handler<KeyHost> = (context) => {
  const items = jsonPages(keyPages(context.host, callerOf(context)));
  return sendList(context, { before: '{"keys":[', items, after: "]}" });
};

export const revokeKeyRoute: Handler<KeyHost> = async (context) => {
  const { host, params } = context;
  const caller = callerOf(context);
  return ok(await revokeKey(host, { caller, keyId: params["keyId"] ?? "", record: context.recorder(ok) }));
};

function created(json: unknown): Reply {
  return { status: 201, json };
}

function ok(json: unknown): Reply {
  return { status: 200, json };
}
