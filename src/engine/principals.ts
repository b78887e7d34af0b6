import { AppError } from "../protocol/errors.ts";
import type { Caller } from "../protocol/identity.ts";
import type { ListPrincipalsResponse, PrincipalInfo, SetPrincipalRequest } from "../protocol/role-api.ts";
import type { Membership } from "../store/gates.ts";
import type { KeyRecord } from "../store/store.ts";
import { bindingAfter } from "./binding-after.ts";
import { auditDraft, type Recorder } from "./execute.ts";
import {
  membershipHere,
  reachedBy,
  requireGrantable,
  requireGroupsGrantable,
  requireOwnerLeft,
  requireWithinKey,
} from "./grants.ts";
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

/**
 * Those who have keys that the caller sees, by name. Without a workspace, a principal has all that any of these keys
 * has; with one, it has what holds there, and those are left out whose keys do not work there.
 */
export async function listPrincipals(
  host: Pick<KeyHost, "store">,
  caller: Caller,
  workspace?: string,
): Promise<ListPrincipalsResponse> {
  const { store } = host;
  const place = placeOf(caller, workspace);
  const byName = new Map<string, KeyRecord[]>();
  for (const key of await store.listKeys(visibilityOf(caller))) {
    if (place.workspace !== undefined && (key.workspace ?? place.workspace) !== place.workspace) continue;
    const known = byName.get(key.principal);
    if (known === undefined) byName.set(key.principal, [key]);
    else known.push(key);
  }
  const keyIds = [...byName.values()].flatMap((keys) => keys.map(({ keyId }) => keyId));
  const origins = await originsOf(store, place.tenant, keyIds);
  const names = [...byName.keys()].sort();
  const principals = names.map(async (principal) => {
    const keys = byName.get(principal) ?? [];
    const there = place.workspace === undefined ? unionOf(keys) : await store.membershipOf(place, principal);
    return { ...infoOf(principal, keys, there), ...madeBy(keys, origins) };
  });
  return { principals: await Promise.all(principals) };
}

/** Makers of keys that still work, as far as no owner has confirmed these. */
function madeBy(keys: readonly KeyRecord[], origins: ReadonlyMap<string, StoredOrigin>): Pick<PrincipalInfo, "madeBy"> {
  const living = keys.filter(({ revokedAtMs }) => revokedAtMs === undefined);
  const makers = unique(living.flatMap(({ keyId }) => openMakers(origins.get(keyId))));
  return makers.length === 0 ? {} : { madeBy: makers.sort() };
}

export interface SetPrincipal {
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
export async function setPrincipal(host: KeyHost, command: SetPrincipal): Promise<PrincipalInfo> {
  const { caller, principal, request, record } = command;
  const { roles, groups } = request;
  if (roles === undefined && groups === undefined) {
    throw new AppError("validation_error", { problem: "body must have roles or groups" });
  }
  requireHarmlessNames(host, groups ?? []);
  const { store } = host;
  const place = placeOf(caller, request.workspace);
  const keys = (await store.listKeys(visibilityOf(caller), principal)).filter(
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
  if (roles !== undefined) await requireOwnerLeft(host, place, principal, roles);

  const binding = bindingAfter(place, principal, request);
  const given = { roles: roles ?? before.roles, groups: groups ?? before.groups };
  const after = await membershipAfter(host, place, principal, given);
  const info = infoOf(principal, keys, after);
  const outcome = record(info);
  const nowMs = host.nowMs();
  const details = {
    ...(roles === undefined ? {} : { roles: roles.join(" "), rolesBefore: before.roles.join(" ") }),
    ...(groups === undefined ? {} : { groups: groups.join(" "), groupsBefore: before.groups.join(" ") }),
    ...(place.workspace === undefined ? {} : { workspace: place.workspace }),
  };
  await commitKeys(host, {
    tenant: place.tenant,
    ...(binding === undefined ? {} : { roles: [binding] }),
    audit: [auditDraft(caller, nowMs, principal, { action: "principal.changed", details })],
    ...(outcome === undefined ? {} : { idempotency: outcome }),
  });
  return info;
}

function infoOf(principal: string, keys: readonly KeyRecord[], { roles, groups }: Membership): PrincipalInfo {
  const workspaces = unique(keys.flatMap((key) => key.workspace ?? [])).sort();
  return { principal, kind: keys.at(-1)?.kind ?? "user", workspaces, roles: [...roles], groups: [...groups] };
}

function unionOf(keys: readonly KeyRecord[]): Membership {
  return { roles: unique(keys.flatMap((key) => key.roles)), groups: unique(keys.flatMap((key) => key.groups)) };
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}
