import { defined } from "../../protocol/defined.ts";
import type { Voter } from "../../protocol/gates/gate-rules.ts";
import type { Caller, Owner } from "../../protocol/identity/identity.ts";
import { BUILT_IN_ROLES, decideScope } from "../../protocol/identity/scopes.ts";
import type { Host } from "../host.ts";
import { roleTable } from "../identity/roles.ts";

/**
 * The caller as a gate sees it: what the principal is in the workspace of the run, read now. A key's own roles are
 * those of the key's workspace and count for nothing here. Somebody unknown has no role, and a role that nobody defines
 * is none.
 */
export async function voterOf(host: Pick<Host, "store">, caller: Caller, owner: Owner): Promise<Voter> {
  const { tenant, workspace } = owner;
  const place = defined({ tenant, workspace });
  const { roles: bound, groups } = await host.store.membershipOf(place, caller.principal);
  const own = bound.some((role) => !Object.hasOwn(BUILT_IN_ROLES, role));
  const table = own ? await roleTable(host, place) : BUILT_IN_ROLES;
  const roles = bound.filter((role) => Object.hasOwn(table, role));
  const { principal, kind, keyScopes } = caller;
  return { principal, kind, roles, groups, grants: (scope) => decideScope({ keyScopes, roles }, scope, table).allowed };
}

/** Whoever holds a token: known by that alone. */
export const TOKEN_HOLDER: Voter = { principal: "token", kind: "token", roles: [], groups: [], grants: () => false };
