import { addTo } from "../../formats/text/collections.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type {
  ConfirmPrincipalResponse,
  ListPrincipalsResponse,
  PrincipalInfo,
  SetPrincipalRequest,
} from "../../protocol/identity/api.ts";
import { type Caller, OPERATOR_KEY_ID, type Visibility, visibilityOf } from "../../protocol/identity/identity.ts";
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
import { confirmedWrite, makersOf, openMakers, originsOf, type StoredOrigin } from "./key-origin.ts";
import { commitKeys, type KeyHost, membershipAfter, placeOf, requireHarmlessNames, tableWith } from "./keys.ts";
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

/** Principals whose keys are read at once, without roles: each read goes through all keys of the tenant. */
const PRINCIPALS_READ = 500;
/** Principals whose roles and groups, which may be long, are read at once. */
const PAGE_PRINCIPALS = 20;

/**
 * The principals with keys that the caller can see, by name, page by page. Without a workspace, a principal has the roles and groups of all its
 * keys; with one, those of the workspace, and principals without a key for it are left out.
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
    const others = workspace === undefined ? keys.map((key) => key.workspace) : [];
    const places = new Set([undefined, workspace, ...others]);
    const there = (bindings.get(principal) ?? []).filter((binding) => places.has(binding.workspace));
    return { ...infoOf(principal, keys, unionOf(there)), ...madeBy(keys, origins) };
  });
}

/** Makers of valid keys that no owner has confirmed. */
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
 * Replaces the roles or groups of a principal in one place. A caller cannot change a principal above itself, grant more than it could grant to a new
 * key, or remove the tenant's last owner. Throws `not_found` for a principal without a key for the place that the caller can see.
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
  if (roles === undefined && groups === undefined) throw validationError("body must have roles or groups");
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
  for (const one of all) addTo(found, one.principal, one);
  return found;
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}

interface ConfirmPrincipal {
  readonly caller: Caller;
  readonly principal: string;
  readonly record: Recorder<ConfirmPrincipalResponse>;
}

/**
 * Confirms that a principal is independent of the makers of its keys: from now on the keys that the owner can see count for the principal alone.
 * Later keys need another confirmation. The owner must be neither the principal nor a maker, nor made by one: otherwise a maker could confirm its own
 * keys.
 */
export async function confirmPrincipal(host: KeyHost, command: ConfirmPrincipal): Promise<ConfirmPrincipalResponse> {
  const { caller, principal, record } = command;
  const { store } = host;
  const { tenant } = caller;
  const keys = await store.keysOf(visibilityOf(caller), [principal]);
  if (keys.length === 0) throw new AppError("not_found", { what: "principal", principal });
  const keyIds = keys.map(({ keyId }) => keyId);
  const open = [...(await originsOf(store, tenant, keyIds)).values()].filter((one) => openMakers(one).length > 0);
  await requireIndependentOwner(host, caller, principal, open);

  const nowMs = host.nowMs();
  const makers = [...new Set(open.flatMap(openMakers))].sort();
  const confirmed = open.map(({ document }) => document.key).sort();
  const response = { principal, makers, confirmedKeys: confirmed };
  const outcome = record(response);
  const details = { makers: makers.join(" "), keys: confirmed.join(" ") };
  if (open.length === 0 && outcome === undefined) return response;
  await commitKeys(host, {
    tenant,
    documents: open.map((one) => confirmedWrite(one, caller.principal, nowMs)),
    ...(open.length === 0
      ? {}
      : { audit: [auditDraft(caller, nowMs, principal, { action: "principal.confirmed", details })] }),
    ...defined({ idempotency: outcome }),
  });
  return response;
}

async function requireIndependentOwner(
  { store }: Pick<KeyHost, "store">,
  caller: Caller,
  principal: string,
  open: readonly StoredOrigin[],
): Promise<void> {
  if (caller.keyId === OPERATOR_KEY_ID) return;
  if (!caller.roles.includes("owner") || caller.kind !== "user") {
    throw refusedWith("a principal is confirmed by an owner, with a key of kind user", { roleRequired: "owner" });
  }
  const involved = new Set([principal, ...open.flatMap(openMakers)]);
  const own = [caller.principal, ...(await makersOf(store, caller))];
  const [party] = own.filter((one) => involved.has(one));
  if (party === undefined) return;
  const problem = `${party} is ${party === principal ? "the principal" : "a maker"} of these keys; an owner who has no part in them has to confirm ${principal}`;
  throw refusedWith(problem, { makers: [...involved].sort() });
}

function refusedWith(problem: string, details: Readonly<Record<string, unknown>>): AppError {
  return new AppError("forbidden", { problem, ...details });
}
