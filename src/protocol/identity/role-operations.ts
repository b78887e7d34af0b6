import { BODY, KEYED, type Operation, PROTECTED } from "../operation.ts";
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

const access = "keys:manage" as const;
const tag = "keys";

export const ROLE_OPERATIONS = {
  listRoles: {
    method: "GET",
    path: "/v1/host/assay/roles",
    tag,
    summary: "List the built-in roles and those that workspaces define, with their scopes.",
    access,
    query: PlaceQuery,
    success: { status: 200, schema: ListRolesResponse },
    errors: [...PROTECTED, "validation_error"],
  },
  defineRole: {
    method: "POST",
    path: "/v1/host/assay/roles",
    tag,
    summary: "Define a role, or replace one; never with more than the caller may do.",
    access,
    body: DefineRoleRequest,
    idempotent: "one",
    success: { status: 200, schema: RoleInfo },
    errors: [...PROTECTED, ...KEYED, ...BODY],
  },
  removeRole: {
    method: "DELETE",
    path: "/v1/host/assay/roles/{role}",
    tag,
    summary: "Remove a role that is not built in. Its holders lose the scopes it granted.",
    access,
    query: PlaceQuery,
    success: { status: 204 },
    errors: [...PROTECTED, "validation_error", "not_found"],
  },
  listPrincipals: {
    method: "GET",
    path: "/v1/host/assay/principals",
    tag,
    summary: "List the principals with keys, their roles and groups; with a workspace, those that apply there.",
    access,
    query: PlaceQuery,
    success: { status: 200, schema: ListPrincipalsResponse },
    errors: [...PROTECTED, "validation_error"],
  },
  setPrincipal: {
    method: "POST",
    path: "/v1/host/assay/principals/{principal}",
    tag,
    summary: "Replace the roles or the groups of a principal that has keys here.",
    access,
    body: SetPrincipalRequest,
    idempotent: "one",
    success: { status: 200, schema: PrincipalInfo },
    errors: [...PROTECTED, ...KEYED, ...BODY, "not_found", "document_conflict"],
  },
  confirmPrincipal: {
    method: "POST",
    path: "/v1/host/assay/principals/{principal}:confirm",
    tag,
    summary:
      "Confirm that a principal is independent of the makers of its keys: at gates it counts in addition to them.",
    access,
    idempotent: "one",
    success: { status: 200, schema: ConfirmPrincipalResponse },
    errors: [...PROTECTED, ...KEYED, "not_found", "document_conflict"],
  },
} as const satisfies Record<string, Operation>;
