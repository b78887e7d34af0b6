import { confirmPrincipal } from "../../engine/identity/confirm-principal.ts";
import { defineRole, listRoles, removeRole } from "../../engine/identity/define-role.ts";
import { type KeyHost, placeOf } from "../../engine/identity/keys.ts";
import { principalPages, setPrincipal } from "../../engine/identity/principals.ts";
import type { DefineRoleRequest, PlaceQuery, SetPrincipalRequest } from "../../protocol/identity/role-api.ts";
import { callerOf, type Handler, type Reply } from "../pipeline/handler.ts";
import { jsonPages, sendList } from "../pipeline/send-list.ts";

export const listRolesRoute: Handler<KeyHost> = async (context) =>
  ok(await listRoles(context.host, callerOf(context), (context.query as PlaceQuery).workspace));

export const defineRoleRoute: Handler<KeyHost> = async (context) => {
  const request = context.body as DefineRoleRequest;
  return ok(await defineRole(context.host, { caller: callerOf(context), request, record: context.recorder(ok) }));
};

export const removeRoleRoute: Handler<KeyHost> = async (context) => {
  const { workspace } = context.query as PlaceQuery;
  await removeRole(context.host, callerOf(context), context.params["role"] ?? "", workspace);
  return { status: 204, raw: null };
};

export const listPrincipalsRoute: Handler<KeyHost> = (context) => {
  const caller = callerOf(context);
  const place = placeOf(caller, (context.query as PlaceQuery).workspace);
  const items = jsonPages(principalPages(context.host, caller, place));
  return sendList(context, { before: '{"principals":[', items, after: "]}" });
};

export const setPrincipalRoute: Handler<KeyHost> = async (context) => {
  const { host, params } = context;
  const asked = { principal: params["principal"] ?? "", request: context.body as SetPrincipalRequest };
  return ok(await setPrincipal(host, { ...asked, caller: callerOf(context), record: context.recorder(ok) }));
};

export const confirmPrincipalRoute: Handler<KeyHost> = async (context) => {
  const principal = context.params["principal"] ?? "";
  const command = { caller: callerOf(context), principal, record: context.recorder(ok) };
  return ok(await confirmPrincipal(context.host, command));
};

function ok(json: unknown): Reply {
  return { status: 200, json };
}
