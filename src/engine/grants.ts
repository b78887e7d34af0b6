import { AppError } from "../protocol/errors.ts";
import type { Caller, Visibility } from "../protocol/identity.ts";
import { BUILT_IN_ROLES, EVERY_SCOPE, grants, type RoleTable, roleContains, SCOPES } from "../protocol/scopes.ts";
import type { Store } from "../store/store.ts";

/**
 * What a caller may hand on. Nobody hands on more than he has: neither scopes beyond his key's, nor a role above his
 * own, and so no key for somebody whose roles are above his own either; it would be a way to act as him.
 */

/** The scopes of a new key; without a wish, all that the caller's own key has. */
export function grantedScopes(caller: Caller, wished: readonly string[] | undefined): readonly string[] {
  if (wished === undefined) return caller.keyScopes;
  for (const scope of wished) {
    if (scope !== EVERY_SCOPE && !(SCOPES as readonly string[]).includes(scope)) {
      throw new AppError("validation_error", { problem: `scopes: there is no scope "${scope}"`, scopes: SCOPES });
    }
    if (!grants(caller.keyScopes, scope)) {
      throw new AppError("forbidden", { scopeRequired: scope, missingFrom: "the key" });
    }
  }
  return [...new Set(wished)];
}

export function requireGrantable(caller: Caller, roles: readonly string[]): void {
  for (const role of roles) {
    if (!caller.roles.some((held) => mayHandOn(held, role))) {
      throw new AppError("forbidden", { scopeRequired: `role:${role}`, missingFrom: "the role", roleRequired: role });
    }
  }
}

/**
 * Roles reach every key that their principal has, also one with wider scopes than the caller's. Where there are such
 * keys, the caller's key must allow all that the roles grant.
 */
export function requireWithinKey({ keyScopes }: Caller, roles: readonly string[], table: RoleTable): void {
  for (const scope of roles.flatMap((role) => table[role] ?? [])) {
    if (!grants(keyScopes, scope)) throw new AppError("forbidden", { scopeRequired: scope, missingFrom: "the key" });
  }
}

/** A workspace's own roles contain nothing and are contained in nothing; owners and admins hand them out. */
function mayHandOn(held: string, role: string): boolean {
  return roleContains(held, role) || (!Object.hasOwn(BUILT_IN_ROLES, role) && roleContains(held, "admin"));
}

export async function hasKeys(store: Pick<Store, "listKeys">, tenant: string, principal: string): Promise<boolean> {
  return (await store.listKeys({ tenant })).some((key) => key.principal === principal);
}

/**
 * The roles a principal has here, those that hold tenant-wide included; undefined when nobody of that name is known.
 * Bindings are only ever made together with a key, and keys are never deleted, so the keys tell.
 */
export async function rolesOfPrincipal(
  store: Pick<Store, "listKeys">,
  { tenant, workspace }: Visibility,
  principal: string,
): Promise<string[] | undefined> {
  const keys = (await store.listKeys({ tenant })).filter(
    (key) => key.principal === principal && (key.workspace === undefined || key.workspace === workspace),
  );
  return keys.length === 0 ? undefined : [...new Set(keys.flatMap((key) => key.roles))];
}
