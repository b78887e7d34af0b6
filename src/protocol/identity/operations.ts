import { operations } from "../operation.ts";
import { CreateKeyRequest, CreateKeyResponse, KeyInfo, ListKeysResponse, WhoAmIResponse } from "../runs/api.ts";
import {
  ConfirmPrincipalResponse,
  DefineRoleRequest,
  ListPrincipalsResponse,
  ListRolesResponse,
  PlaceQuery,
  PrincipalInfo,
  RoleInfo,
  SetPrincipalRequest,
} from "./role-api.ts";

const common = { tag: "keys" } as const;

/** API keys, roles and principals. */
export const IDENTITY_OPERATIONS = operations(common, {
  whoAmI: {
    method: "GET",
    path: "/v1/host/assay/whoami",
    summary: "The principal and the scopes of the API key.",
    access: "authenticated",
    success: { status: 200, schema: WhoAmIResponse },
  },
  createKey: {
    method: "POST",
    path: "/v1/host/assay/keys",
    summary: "Make an API key in the caller's tenant. The key is shown once.",
    access: "keys:manage",
    body: CreateKeyRequest,
    idempotent: "one",
    // The answer is the key itself: it is recorded only as what the caller's own API key opens.
    sealsReply: true,
    success: { status: 201, schema: CreateKeyResponse },
    errors: ["tenant_key_limit", "document_conflict"],
  },
  listKeys: {
    method: "GET",
    path: "/v1/host/assay/keys",
    summary: "The tenant's API keys, without the keys themselves.",
    access: "keys:manage",
    success: { status: 200, schema: ListKeysResponse },
  },
  revokeKey: {
    method: "POST",
    path: "/v1/host/assay/keys/{keyId}:revoke",
    summary: "Revoke an API key now.",
    access: "keys:manage",
    idempotent: "one",
    success: { status: 200, schema: KeyInfo },
    errors: ["not_found"],
  },
  listRoles: {
    method: "GET",
    path: "/v1/host/assay/roles",
    summary: "List the built-in roles and those that workspaces define, with their scopes.",
    access: "keys:manage",
    query: PlaceQuery,
    success: { status: 200, schema: ListRolesResponse },
  },
  defineRole: {
    method: "POST",
    path: "/v1/host/assay/roles",
    summary: "Define a role, or replace one; never with more than the caller may do.",
    access: "keys:manage",
    body: DefineRoleRequest,
    idempotent: "one",
    success: { status: 200, schema: RoleInfo },
  },
  removeRole: {
    method: "DELETE",
    path: "/v1/host/assay/roles/{role}",
    summary: "Remove a role that is not built in. Its holders lose the scopes it granted.",
    access: "keys:manage",
    query: PlaceQuery,
    success: { status: 204 },
    errors: ["not_found"],
  },
  listPrincipals: {
    method: "GET",
    path: "/v1/host/assay/principals",
    summary: "List the principals with keys, their roles and groups; with a workspace, those that apply there.",
    access: "keys:manage",
    query: PlaceQuery,
    success: { status: 200, schema: ListPrincipalsResponse },
  },
  setPrincipal: {
    method: "POST",
    path: "/v1/host/assay/principals/{principal}",
    summary: "Replace the roles or the groups of a principal that has keys here.",
    access: "keys:manage",
    body: SetPrincipalRequest,
    idempotent: "one",
    success: { status: 200, schema: PrincipalInfo },
    errors: ["not_found", "document_conflict"],
  },
  confirmPrincipal: {
    method: "POST",
    path: "/v1/host/assay/principals/{principal}:confirm",
    summary:
      "Confirm that a principal is independent of the makers of its keys: at gates it counts in addition to them.",
    access: "keys:manage",
    idempotent: "one",
    success: { status: 200, schema: ConfirmPrincipalResponse },
    errors: ["not_found", "document_conflict"],
  },
});
