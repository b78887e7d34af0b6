import { defineRole, listRoles, removeRole } from "../../engine/identity/define-role.ts";
import { createKey, type KeyHost, keyPages, placeOf, revokeKey } from "../../engine/identity/keys.ts";
import { confirmPrincipal, principalPages, setPrincipal } from "../../engine/identity/principals.ts";
import { defined } from "../../protocol/defined.ts";
import type { IDENTITY_OPERATIONS } from "../../protocol/identity/operations.ts";
import { type HandlersOf, recordedReply } from "../pipeline/handler.ts";
import { created, NO_CONTENT, ok } from "../pipeline/reply.ts";
import { jsonPages, sendList } from "../pipeline/send-list.ts";

export const IDENTITY_ROUTES: HandlersOf<typeof IDENTITY_OPERATIONS, KeyHost> = {
  whoAmI: ({ caller }) => {
    const { tenant, workspace, principal, kind, roles, groups, keyScopes } = caller;
    return ok({ tenant, ...defined({ workspace }), principal, kind, roles, groups, scopes: keyScopes });
  },
  createKey: (context) =>
    recordedReply(context, created, (record) => createKey(context.host, context.caller, context.body, record)),
  listKeys: (context) => {
    const items = jsonPages(keyPages(context.host, context.caller));
    return sendList(context, { before: '{"keys":[', items, after: "]}" });
  },
  revokeKey: (context) =>
    recordedReply(context, ok, (record) => {
      return revokeKey(context.host, { caller: context.caller, keyId: context.params.keyId, record });
    }),
  listRoles: async ({ host, caller, query }) => ok(await listRoles(host, caller, query.workspace)),
  defineRole: (context) =>
    recordedReply(context, ok, (record) => {
      return defineRole(context.host, { caller: context.caller, request: context.body, record });
    }),
  removeRole: async ({ host, caller, params, query }) => {
    await removeRole(host, caller, params.role, query.workspace);
    return NO_CONTENT;
  },
  listPrincipals: (context) => {
    const { host, caller, query } = context;
    const items = jsonPages(principalPages(host, caller, placeOf(caller, query.workspace)));
    return sendList(context, { before: '{"principals":[', items, after: "]}" });
  },
  setPrincipal: (context) =>
    recordedReply(context, ok, (record) => {
      const { host, caller, params, body: request } = context;
      return setPrincipal(host, { caller, principal: params.principal, request, record });
    }),
  confirmPrincipal: (context) =>
    recordedReply(context, ok, (record) => {
      return confirmPrincipal(context.host, { caller: context.caller, principal: context.params.principal, record });
    }),
};
