import { AppError } from "../../protocol/errors.ts";
import { type Caller, OPERATOR_KEY_ID, type PrincipalKind, type Visibility } from "../../protocol/identity/identity.ts";
import {
  BUILT_IN_ROLES,
  decideScope,
  EVERY_SCOPE,
  grants,
  type RoleTable,
  roleContains,
  SCOPES,
  SCOPES_BY_NAME,
} from "../../protocol/identity/scopes.ts";
import type { DocumentWrite } from "../../store/port/documents.ts";
import type { Membership } from "../../store/port/gates.ts";
import type { KeyOutline, Store } from "../../store/port/store.ts";
import { openMakers, originsOf } from "./key-origin.ts";

/**
 * What a caller may hand on. Nobody hands on more than he has: neither scopes beyond his key's, nor a role above his
 * own, and so no key for somebody whose roles are above his own either; it would be a way to act as him.
 */

/** The scopes of a new key; without a wish, all that the caller's own key has and may hand on. */
export function grantedScopes(
  caller: Caller,
  wished: readonly string[] | undefined,
  table: RoleTable,
): readonly string[] {
  if (wished === undefined) return caller.keyScopes.filter((scope) => mayHandOnScope(caller, scope, table));
  for (const scope of wished) {
    if (scope !== EVERY_SCOPE && !(SCOPES as readonly string[]).includes(scope)) {
      throw new AppError("validation_error", { problem: `scopes: there is no scope "${scope}"`, scopes: SCOPES });
    }
    if (!mayHandOnScope(caller, scope, table)) throw lacking(caller, scope);
  }
  return [...new Set(wished)];
}

/**
 * What a key has, it hands on. A scope that `*` does not contain is handed on by those who have it in key and role, and given by
 * owners: otherwise a tenant could never have it.
 */
function mayHandOnScope(caller: Caller, scope: string, table: RoleTable): boolean {
  if (!SCOPES_BY_NAME.has(scope)) return grants(caller.keyScopes, scope);
  return isGivenByOwner(caller, scope) || decideScope(caller, scope, table).allowed;
}

/** Whether the scope is one that only owners give, by name, and the caller is one, with a key that may do all else. */
export function isGivenByOwner({ keyScopes, roles }: Pick<Caller, "keyScopes" | "roles">, scope: string): boolean {
  return SCOPES_BY_NAME.has(scope) && keyScopes.includes(EVERY_SCOPE) && roles.includes("owner");
}

function lacking({ keyScopes }: Caller, scope: string): AppError {
  const missingFrom = grants(keyScopes, scope) ? "the role" : "the key";
  return new AppError("forbidden", { scopeRequired: scope, missingFrom });
}

/**
 * Whose a new key is; without a wish, of the same kind as the caller's. Gates count keys of kind `user` as people, so only
 * people make them: an agent that may manage keys would be as many people as it likes.
 */
export function grantedKind({ kind: own }: Caller, wished: PrincipalKind = own): PrincipalKind {
  if (wished !== "user" || own === "user") return wished;
  throw new AppError("forbidden", { problem: "a key of kind user is made by somebody who has one" });
}

export function requireGrantable(caller: Caller, roles: readonly string[]): void {
  for (const role of roles) {
    if (!caller.roles.some((held) => mayHandOn(held, role))) {
      throw new AppError("forbidden", { scopeRequired: `role:${role}`, missingFrom: "the role", roleRequired: role });
    }
  }
}

/**
 * Roles reach every key that their principal has, also one with wider scopes than the caller's. Where there are such keys, the caller
 * must be able to hand on all that the roles grant. A first key has no more scopes than the caller hands on, but for those that only owners give.
 */
export function requireWithinKey(caller: Caller, roles: readonly string[], table: RoleTable, hasOthers = true): void {
  const scopes = roles.flatMap((role) => (Object.hasOwn(table, role) ? (table[role] ?? []) : []));
  const beyond = scopes.find(
    (scope) => (hasOthers || SCOPES_BY_NAME.has(scope)) && !mayHandOnScope(caller, scope, table),
  );
  if (beyond !== undefined) throw lacking(caller, beyond);
}

/** A workspace's own roles contain nothing and are contained in nothing; owners and admins hand them out. */
function mayHandOn(held: string, role: string): boolean {
  return roleContains(held, role) || (!Object.hasOwn(BUILT_IN_ROLES, role) && roleContains(held, "admin"));
}

/** A group lets its members decide at gates, so it is handed out like a workspace's own role. */
export function requireGroupsGrantable(caller: Caller, groups: readonly string[]): void {
  const group = groups.find((each) => !mayHandOnGroup(caller, each));
  if (group === undefined) return;
  throw new AppError("forbidden", { problem: `group ${group} is handed out by its members, owners and admins` });
}

function mayHandOnGroup({ roles, groups }: Membership, group: string): boolean {
  return groups.includes(group) || roles.some((held) => roleContains(held, "admin"));
}

interface Raised {
  readonly principal: string;
  readonly before: Membership | undefined;
  readonly roles: readonly string[];
  readonly groups: readonly string[];
}

/**
 * Roles and groups reach every key of their principal, also one that another principal made and has had in hand. Throws where a maker could
 * not have given them: with that key it would act as somebody above itself. A maker counts until an owner confirms the principal; taking something
 * away is always possible.
 */
export async function requireWithinMakers(
  { store, nowMs }: MakersHost,
  caller: Caller,
  { tenant, workspace }: Visibility,
  { principal, before = { roles: [], groups: [] }, ...given }: Raised,
): Promise<void> {
  const roles = given.roles.filter((role) => !before.roles.some((held) => roleContains(held, role)));
  const groups = given.groups.filter((group) => !before.groups.includes(group));
  if (caller.keyId === OPERATOR_KEY_ID || roles.length + groups.length === 0) return;
  const keys = (await store.keysOf({ tenant }, [principal])).filter(
    ({ revokedAtMs, expiresAtMs = Number.POSITIVE_INFINITY, workspace: bound = workspace }) =>
      revokedAtMs === undefined && expiresAtMs > nowMs() && (workspace === undefined || bound === workspace),
  );
  const keyIds = keys.map(({ keyId }) => keyId);
  const origins = await originsOf(store, tenant, keyIds);
  const makers = new Map<string, readonly [maker: string, place: Visibility, keyId: string]>();
  for (const { keyId, workspace: bound = workspace } of keys) {
    const place = bound === undefined ? { tenant } : { tenant, workspace: bound };
    for (const maker of openMakers(origins.get(keyId)))
      makers.set(JSON.stringify([maker, bound]), [maker, place, keyId]);
  }
  for (const [maker, place, keyId] of makers.values()) {
    if (maker === caller.principal) continue;
    const held = await store.membershipOf(place, maker);
    const role = roles.find((one) => !held.roles.some((own) => mayHandOn(own, one)));
    const group = groups.find((one) => !mayHandOnGroup(held, one));
    if (role === undefined && group === undefined) continue;
    const what = role === undefined ? `group ${group}` : `role ${role}`;
    const problem = `${maker} had key ${keyId} of ${principal} made and may not hand on ${what}: revoke the key and make another one, or let an owner who made none of its keys confirm ${principal}`;
    throw new AppError("forbidden", { problem, maker, keyId, ...(role === undefined ? {} : { roleRequired: role }) });
  }
}

interface MakersHost {
  readonly store: Pick<Store, "keysOf" | "membershipOf" | "readDocuments">;
  readonly nowMs: () => number;
}

export async function hasKeys(store: Pick<Store, "keysOf">, tenant: string, principal: string): Promise<boolean> {
  return (await store.keysOf({ tenant }, [principal])).length > 0;
}

/**
 * What a principal is here, with what holds tenant-wide; undefined when nobody of that name is known. Known is who has
 * roles or groups here, or a key that works here; keys are never deleted.
 */
export async function membershipHere(
  store: Pick<Store, "keysOf" | "membershipOf">,
  place: Visibility,
  principal: string,
): Promise<Membership | undefined> {
  const { tenant, workspace } = place;
  const found = await store.membershipOf(place, principal);
  if (found.roles.length + found.groups.length > 0) return found;
  const works = (key: KeyOutline) => key.workspace === undefined || key.workspace === workspace;
  return (await store.keysOf({ tenant }, [principal])).some(works) ? found : undefined;
}

/**
 * All that a new key lets its holder act as: with a key of the whole tenant, a principal is at each gate what it is in the workspace of the
 * run. A principal that has a key of the whole tenant and makes itself another one gains nothing.
 */
export async function reachedBy(
  store: Pick<Store, "membershipAnywhere">,
  { principal: maker }: Caller,
  { tenant, workspace }: Visibility,
  principal: string,
): Promise<Membership> {
  if (workspace !== undefined || principal === maker) return { roles: [], groups: [] };
  return store.membershipAnywhere(tenant, principal);
}

export async function rolesOfPrincipal(
  store: Pick<Store, "keysOf" | "membershipOf">,
  place: Visibility,
  principal: string,
): Promise<readonly string[] | undefined> {
  return (await membershipHere(store, place, principal))?.roles;
}

interface OwnersHost {
  readonly store: Pick<Store, "hasOtherOwner" | "membershipOf" | "readDocument">;
  readonly nowMs: () => number;
}

/**
 * Throws when a change would leave the tenant without anybody who is its owner and has a key to say so: nobody could
 * make another one then, but on the database itself. A change that takes an owner away writes the document that is returned: of two
 * owners who take each other away in the same moment, on any hosts, one is refused there.
 */
export async function requireOwnerLeft(
  { store, nowMs }: OwnersHost,
  { tenant, workspace }: Visibility,
  principal: string,
  roles: readonly string[],
): Promise<readonly DocumentWrite[]> {
  if (workspace !== undefined || roles.includes("owner")) return [];
  // Read first: whoever leaves after this is noticed at the commit, and whoever left before is no other owner any more.
  const id = { tenant, kind: "owner-leaving", key: "last" } as const;
  const standing = await store.readDocument(id);
  if (!(await store.membershipOf({ tenant }, principal)).roles.includes("owner")) return [];
  if (await store.hasOtherOwner(tenant, principal, nowMs())) {
    const body = JSON.stringify({ principal });
    return [{ type: "put", document: { ...id, revision: (standing?.revision ?? 0) + 1, atMs: nowMs(), body } }];
  }
  throw new AppError("forbidden", { problem: "the last owner of a tenant stays its owner; make another one first" });
}
