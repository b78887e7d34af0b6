import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
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
 * The scopes of a new key; by default all that the caller's own key has and may hand on. Callers never grant more than they have: no scopes beyond
 * those of their key, no role above their own, and no key for a principal with a role above their own, because they could act as that principal.
 */
export function grantedScopes(
  caller: Caller,
  wished: readonly string[] | undefined,
  table: RoleTable,
): readonly string[] {
  if (wished === undefined) return caller.keyScopes.filter((scope) => mayHandOnScope(caller, scope, table));
  for (const scope of wished) {
    if (scope !== EVERY_SCOPE && !(SCOPES as readonly string[]).includes(scope)) {
      throw validationError(`scopes: there is no scope "${scope}"`, { scopes: SCOPES });
    }
    if (!mayHandOnScope(caller, scope, table)) throw lacking(caller, scope);
  }
  return [...new Set(wished)];
}

/**
 * Whether a caller may grant a scope: one that its key has. A scope that `*` does not contain must be in key and role, or is granted by owners,
 * because otherwise a tenant could never have it.
 */
function mayHandOnScope(caller: Caller, scope: string, table: RoleTable): boolean {
  if (!SCOPES_BY_NAME.has(scope)) return grants(caller.keyScopes, scope);
  return isGivenByOwner(caller, scope) || decideScope(caller, scope, table).allowed;
}

/** Whether a scope is granted by name only, and the caller is an owner with a key for all other scopes. */
export function isGivenByOwner({ keyScopes, roles }: Pick<Caller, "keyScopes" | "roles">, scope: string): boolean {
  return SCOPES_BY_NAME.has(scope) && keyScopes.includes(EVERY_SCOPE) && roles.includes("owner");
}

function lacking({ keyScopes }: Caller, scope: string): AppError {
  const missingFrom = grants(keyScopes, scope) ? "the role" : "the key";
  return new AppError("forbidden", { scopeRequired: scope, missingFrom });
}

/**
 * The kind of a new key, by default that of the caller's. Gates count keys of kind `user` as people, so only people make them: otherwise an agent
 * that manages keys could appear as many people.
 */
export function grantedKind({ kind: own }: Caller, wished: PrincipalKind = own): PrincipalKind {
  if (wished !== "user" || own === "user") return wished;
  throw new AppError("forbidden", { problem: "only a key of kind user can make keys of kind user" });
}

export function requireGrantable(caller: Caller, roles: readonly string[]): void {
  for (const role of roles) {
    if (!caller.roles.some((held) => mayHandOn(held, role))) {
      throw new AppError("forbidden", { scopeRequired: `role:${role}`, missingFrom: "the role", roleRequired: role });
    }
  }
}

/**
 * Roles hold for all keys of their principal, also for keys with more scopes than the caller's. Where there are other keys, the caller must be able
 * to grant all scopes of the roles; a first key has only scopes that the caller can grant, except those that only owners grant.
 */
export function requireWithinKey(caller: Caller, roles: readonly string[], table: RoleTable, hasOthers = true): void {
  const scopes = roles.flatMap((role) => (Object.hasOwn(table, role) ? (table[role] ?? []) : []));
  const beyond = scopes.find(
    (scope) => (hasOthers || SCOPES_BY_NAME.has(scope)) && !mayHandOnScope(caller, scope, table),
  );
  if (beyond !== undefined) throw lacking(caller, beyond);
}

/** Whether a role may grant another one. Custom roles contain no others; owners and admins grant them. */
function mayHandOn(held: string, role: string): boolean {
  return roleContains(held, role) || (!Object.hasOwn(BUILT_IN_ROLES, role) && roleContains(held, "admin"));
}

/** Groups let their members decide at gates, so they are granted like custom roles. */
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
 * Roles and groups hold for all keys of their principal, also for keys that another principal made and may have kept. Throws where such a maker
 * could not have granted them: with that key it could act as a principal above itself. A maker counts until an owner confirms the principal;
 * removing roles and groups is always possible.
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
    const place = defined({ tenant, workspace: bound });
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

/** The roles and groups of a principal in a place; undefined for an unknown principal, without roles, groups and keys here. */
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
 * The roles and groups that a new key can use: with a key of the whole tenant, a principal has at each gate those of the run's workspace. A
 * principal with such a key that makes itself another one gains nothing.
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
 * Throws where a change would leave the tenant without an owner that has a key: a new one could then be made on the database only. A change that
 * removes an owner writes the returned document, so that of two owners who remove each other at the same moment, on any hosts, one is refused.
 */
export async function requireOwnerLeft(
  { store, nowMs }: OwnersHost,
  { tenant, workspace }: Visibility,
  principal: string,
  roles: readonly string[],
): Promise<readonly DocumentWrite[]> {
  if (workspace !== undefined || roles.includes("owner")) return [];
  // Read first: an owner that is removed later is noticed at the commit, and one that was removed before is no other owner any more.
  const id = { tenant, kind: "owner-leaving", key: "last" } as const;
  const before = await store.readDocument(id);
  if (!(await store.membershipOf({ tenant }, principal)).roles.includes("owner")) return [];
  if (await store.hasOtherOwner(tenant, principal, nowMs())) {
    const body = JSON.stringify({ principal });
    return [{ type: "put", document: { ...id, revision: (before?.revision ?? 0) + 1, atMs: nowMs(), body } }];
  }
  throw new AppError("forbidden", { problem: "the last owner of a tenant stays its owner; make another one first" });
}
