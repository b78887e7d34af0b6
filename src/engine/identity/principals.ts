import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { ListPrincipalsResponse, PrincipalInfo, SetPrincipalRequest } from "../../protocol/identity/api.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";
import type { DocumentWrite } from "../../store/port/documents.ts";
import type { Membership } from "../../store/port/gates.ts";
import type { KeyOutline, Store } from "../../store/port/store.ts";
import { auditDraft, type Recorder } from "../execute.ts";
import {
  membershipHere,
  reachedBy,
  requireGrantable,
  requireGroupsGrantable,
  requireOwnerLeft,
  requireWithinKey,
  requireWithinMakers,
} from "./grants.ts";
import { requireShortNames } from "./key-limits.ts";
import { openMakers, originsOf, type StoredOrigin } from "./key-origin.ts";
import {
  commitKeys,
  type KeyHost,
  membershipAfter,
  placeOf,
  requireHarmlessNames,
  tableWith,
  visibilityOf,
} from "./keys.ts";
import { changePrincipal } from "./principal-turn.ts";
import { bindingAfter } from "./roles.ts";

export async function listPrincipals(
  host: Pick<KeyHost, "store">,
  caller: Caller,
  workspace?: string,
): Promise<ListPrincipalsResponse> {
  const principals: PrincipalInfo[] = [];
  for await (const page of principalPages(host, caller, placeOf(caller, workspace))) principals.push(...page);
  return { principals };
}

/** Keys are read for many principals at once, without roles: the database goes through all keys of the tenant for each read. */
const PRINCIPALS_READ = 500;
/** Roles and groups are long, and read for a few. */
const PAGE_PRINCIPALS = 20;

/**
 * Those who have keys that the caller sees, by name, a page at a time. Without a workspace, a principal has all that any of these keys
 * has; with one, it has what holds there, and those are left out whose keys do not work there.
 */
export async function* principalPages(
  { store }: Pick<KeyHost, "store">,
  caller: Caller,
  place: Visibility,
): AsyncGenerator<PrincipalInfo[]> {
  for (let after = ""; ; ) {
    const keys = await store.keysByPrincipal(visibilityOf(caller), after, PRINCIPALS_READ);
    const last = keys.at(-1);
    if (last === undefined) return;
    const byName = [...byPrincipal(keys)];
    for (let i = 0; i < byName.length; i += PAGE_PRINCIPALS) {
      yield await principalsOf(store, place, byName.slice(i, i + PAGE_PRINCIPALS));
    }
    after = last.principal;
  }
}

type NamedKeys = readonly [principal: string, keys: readonly KeyOutline[]];

async function principalsOf(store: Store, place: Visibility, all: readonly NamedKeys[]): Promise<PrincipalInfo[]> {
  const { tenant, workspace } = place;
  const works = (key: KeyOutline) => workspace === undefined || (key.workspace ?? workspace) === workspace;
  const named = all
    .map(([principal, keys]): NamedKeys => [principal, keys.filter(works)])
    .filter(([, keys]) => keys.length > 0);
  const keyIds = named.flatMap(([, keys]) => keys.map(({ keyId }) => keyId));
  const origins = await originsOf(store, tenant, keyIds);
  const names = named.map(([principal]) => principal);
  const bindings = byPrincipal(await store.bindingsOf(tenant, names));
  return named.map(([principal, keys]) => {
    const places = new Set([
      undefined,
      workspace,
      ...(workspace === undefined ? keys.map((key) => key.workspace) : []),
    ]);
    const there = (bindings.get(principal) ?? []).filter((binding) => places.has(binding.workspace));
    return { ...infoOf(principal, keys, unionOf(there)), ...madeBy(keys, origins) };
  });
}

/** Makers of keys that still work, as far as no owner has confirmed these. */
function madeBy(
  keys: readonly KeyOutline[],
  origins: ReadonlyMap<string, StoredOrigin>,
): Pick<PrincipalInfo, "madeBy"> {
  const living = keys.filter(({ revokedAtMs }) => revokedAtMs === undefined);
  const makers = unique(living.flatMap(({ keyId }) => openMakers(origins.get(keyId))));
  return makers.length === 0 ? {} : { madeBy: makers.sort() };
}

interface SetPrincipal {
  readonly caller: Caller;
  readonly principal: string;
  readonly request: SetPrincipalRequest;
  readonly record: Recorder<PrincipalInfo>;
}

/**
 * Replaces the roles or groups that a principal has in one place. Nobody changes somebody above himself, gives what he
 * could not give to a new key, or takes the tenant's last owner away. Throws `not_found` for somebody without a key
 * that works there and that the caller sees.
 */
export function setPrincipal(host: KeyHost, command: SetPrincipal): Promise<PrincipalInfo> {
  return changePrincipal(host, command.caller, command.principal, ({ caller, write }) =>
    changeMembership(host, { ...command, caller }, write),
  );
}

async function changeMembership(
  host: KeyHost,
  { caller, principal, request, record }: SetPrincipal,
  write: DocumentWrite,
): Promise<PrincipalInfo> {
  const { roles, groups } = request;
  if (roles === undefined && groups === undefined) {
    throw new AppError("validation_error", { problem: "body must have roles or groups" });
  }
  requireHarmlessNames(host, [...(groups ?? []), request.workspace ?? ""]);
  const { store } = host;
  const place = placeOf(caller, request.workspace);
  const keys = (await store.keysOf(visibilityOf(caller), [principal])).filter(
    ({ workspace }) => workspace === undefined || workspace === place.workspace,
  );
  const before = keys.length === 0 ? undefined : await membershipHere(store, place, principal);
  if (before === undefined) throw new AppError("not_found", { what: "principal", principal });

  const added = (roles ?? []).filter((role) => !before.roles.includes(role));
  const table = await tableWith(host, place, added);
  const reached = await reachedBy(store, caller, place, principal);
  requireGrantable(caller, [...before.roles, ...reached.roles, ...added]);
  requireGroupsGrantable(caller, [...before.groups, ...reached.groups, ...(groups ?? [])]);
  requireWithinKey(caller, added, table);
  await requireWithinMakers(host, caller, place, { principal, before, roles: added, groups: groups ?? [] });
  const leaving = roles === undefined ? [] : await requireOwnerLeft(host, place, principal, roles);

  const binding = bindingAfter(place, principal, request);
  if (binding !== undefined) await requireShortNames(store, binding);
  const given = { roles: roles ?? before.roles, groups: groups ?? before.groups };
  const after = await membershipAfter(host, place, principal, given);
  const info = infoOf(principal, keys, after);
  const outcome = record(info);
  const nowMs = host.nowMs();
  const details = {
    ...(roles === undefined ? {} : { roles: roles.join(" "), rolesBefore: before.roles.join(" ") }),
    ...(groups === undefined ? {} : { groups: groups.join(" "), groupsBefore: before.groups.join(" ") }),
    ...defined({ workspace: place.workspace }),
  };
  await commitKeys(host, {
    tenant: place.tenant,
    ...(binding === undefined ? {} : { roles: [binding] }),
    documents: [write, ...leaving],
    audit: [auditDraft(caller, nowMs, principal, { action: "principal.changed", details })],
    ...defined({ idempotency: outcome }),
  });
  return info;
}

function infoOf(principal: string, keys: readonly KeyOutline[], { roles, groups }: Membership): PrincipalInfo {
  const workspaces = unique(keys.flatMap((key) => key.workspace ?? [])).sort();
  return { principal, kind: keys.at(-1)?.kind ?? "user", workspaces, roles: [...roles], groups: [...groups] };
}

function unionOf(all: readonly Membership[]): Membership {
  return { roles: unique(all.flatMap(({ roles }) => roles)), groups: unique(all.flatMap(({ groups }) => groups)) };
}

function byPrincipal<T extends { readonly principal: string }>(all: readonly T[]): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const one of all) {
    const known = found.get(one.principal);
    if (known === undefined) found.set(one.principal, [one]);
    else known.push(one);
  }
  return found;
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}
