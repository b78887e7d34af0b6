import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { DefineRoleRequest, ListRolesResponse, RoleInfo } from "../../protocol/identity/api.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";
import { BUILT_IN_ROLES, decideScope } from "../../protocol/identity/scopes.ts";
import { own } from "../../protocol/own.ts";
import { type ApiRequest, auditDraft } from "../execute.ts";
import { grantedScopes, isGivenByOwner } from "./grants.ts";
import { commitKeys, type KeyHost, placeOf, requireHarmlessNames } from "./keys.ts";
import { roleTable } from "./roles.ts";

/** The built-in roles, then those that the tenant and, with a workspace, the workspace define, by name. */
export async function listRoles(
  { store }: Pick<KeyHost, "store">,
  caller: Caller,
  wished?: string,
): Promise<ListRolesResponse> {
  const { tenant, workspace } = placeOf(caller, wished);
  const [wide, here] = await Promise.all([
    store.customRoles(tenant, undefined),
    workspace === undefined ? undefined : store.customRoles(tenant, workspace),
  ]);
  const own = Object.entries(here ?? wide).filter(([role]) => !isBuiltIn(role));
  const inherited = (role: string, scopes: readonly string[]) =>
    Object.hasOwn(wide, role) && JSON.stringify(wide[role]) === JSON.stringify(scopes);
  return {
    roles: [
      ...Object.entries(BUILT_IN_ROLES).map(([role, scopes]) => ({ role, scopes: [...scopes], builtIn: true })),
      ...own
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([role, scopes]) => ({
          role,
          scopes: [...scopes],
          builtIn: false,
          ...(workspace === undefined || inherited(role, scopes) ? {} : { workspace }),
        })),
    ],
  };
}

/** Defines or replaces a role of the tenant or of one workspace. The caller must have all scopes of the role before and after. */
export async function defineRole(
  host: KeyHost,
  { caller, request, record }: ApiRequest<DefineRoleRequest, RoleInfo>,
): Promise<RoleInfo> {
  const { role } = request;
  refuseBuiltIn(role);
  requireHarmlessNames(host, [role, request.workspace ?? ""]);
  const place = placeOf(caller, request.workspace);
  const scopes = [...grantedScopes(caller, request.scopes, await roleTable(host, caller))];
  const before = await ownScopes(host, caller, role, place.workspace);
  await requireHeld(host, caller, [...scopes, ...(before ?? [])]);
  await requireRoom(host, place, role);

  const bound = defined({ workspace: place.workspace });
  const info: RoleInfo = { role, scopes, builtIn: false, ...bound };
  const outcome = record(info);
  const details = { ...defined({ scopes: scopes.join(" "), scopesBefore: before?.join(" ") }), ...bound };
  await commitKeys(host, {
    tenant: place.tenant,
    roleDefinitions: [{ type: "put", ...bound, role, scopes }],
    audit: [auditDraft(caller, host.nowMs(), role, { action: "role.defined", details })],
    ...defined({ idempotency: outcome }),
  });
  return info;
}

/**
 * In a workspace, its own definition goes and one of the tenant holds in its place: the caller must have the scopes of both. Bindings stay, and
 * grant no scope where no definition is left.
 */
export async function removeRole(host: KeyHost, caller: Caller, role: string, wished?: string): Promise<void> {
  refuseBuiltIn(role);
  const place = placeOf(caller, wished);
  // One of the tenant holds in the workspace too, and is not the workspace's to remove.
  const before = own(await host.store.ownRoles(place.tenant, place.workspace), role);
  if (before === undefined) throw new AppError("not_found", { what: "role", role });
  const left = place.workspace === undefined ? {} : await host.store.ownRoles(place.tenant, undefined);
  await requireHeld(host, caller, [...before, ...(own(left, role) ?? [])]);
  const bound = defined({ workspace: place.workspace });
  const details = { scopesBefore: before.join(" "), ...bound };
  await commitKeys(host, {
    tenant: place.tenant,
    roleDefinitions: [{ type: "delete", ...bound, role }],
    audit: [auditDraft(caller, host.nowMs(), role, { action: "role.removed", details })],
  });
}

/** Roles of one place, at most: all of them are read for one. */
export const MAX_ROLES = 500;

async function requireRoom(
  { store }: Pick<KeyHost, "store">,
  { tenant, workspace }: Visibility,
  role: string,
): Promise<void> {
  const roles = await store.ownRoles(tenant, workspace);
  if (Object.hasOwn(roles, role) || Object.keys(roles).length < MAX_ROLES) return;
  const problem = `role: at most ${MAX_ROLES} roles are defined in one place; remove one that is not needed`;
  throw validationError(problem, { limit: MAX_ROLES });
}

/** The scopes of a role as it is defined there now. */
async function ownScopes(
  { store }: Pick<KeyHost, "store">,
  { tenant }: Caller,
  role: string,
  workspace: string | undefined,
): Promise<readonly string[] | undefined> {
  return own(await store.customRoles(tenant, workspace), role);
}

async function requireHeld(host: Pick<KeyHost, "store">, caller: Caller, scopes: readonly string[]): Promise<void> {
  const table = await roleTable(host, caller);
  for (const scope of scopes) {
    const decision = decideScope(caller, scope, table);
    if (!decision.allowed && !isGivenByOwner(caller, scope)) {
      throw new AppError("forbidden", { scopeRequired: scope, missingFrom: decision.missingFrom });
    }
  }
}

function isBuiltIn(role: string): boolean {
  return Object.hasOwn(BUILT_IN_ROLES, role.toLowerCase());
}

/** Refuses the names of built-in roles, in upper or lower case. */
function refuseBuiltIn(role: string): void {
  if (isBuiltIn(role)) throw validationError(`role: ${role} is built in and stays as it is`);
}
