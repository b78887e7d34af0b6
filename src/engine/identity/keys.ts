import { closestTo } from "../../protocol/closest-to.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { CreateKeyRequest, CreateKeyResponse, KeyInfo } from "../../protocol/identity/api.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";
import type { RoleTable } from "../../protocol/identity/scopes.ts";
import { reservedProblem } from "../../protocol/identity/scopes.ts";
import { instantMs } from "../../protocol/instant.ts";
import type { Membership } from "../../store/port/gates.ts";
import type { KeyRecord, Unit } from "../../store/port/store.ts";
import { auditDraft, type Recorder, refused } from "../execute.ts";
import type { Host } from "../host.ts";
import { hashOfKey, newApiKey } from "./api-key.ts";
import {
  grantedKind,
  grantedScopes,
  hasKeys,
  membershipHere,
  reachedBy,
  requireGrantable,
  requireGroupsGrantable,
  requireOwnerLeft,
  requireWithinKey,
  requireWithinMakers,
} from "./grants.ts";
import { type KeyLimits, requireRoomForKey, requireShortNames } from "./key-limits.ts";
import { originWrite } from "./key-origin.ts";
import { changePrincipal } from "./principal-turn.ts";
import { bindingAfter, roleTable } from "./roles.ts";

export type KeyHost = Pick<Host, "store" | "nowMs" | "newId" | "checkpointer" | "scrubber"> & {
  readonly limits?: KeyLimits;
};

/**
 * Makes a key in the caller's tenant and, when the caller is bound to one, its workspace. The answer is the only place
 * where the key is ever shown.
 *
 * Roles belong to the principal, not to the key. A principal that is not known yet gets the roles asked for, or
 * `viewer`. One that is known keeps what it has unless roles are asked for; then these replace its roles here, for
 * its other keys too, and the caller must be one who could have granted the old ones as well as the new. So it is with
 * groups, of which somebody new has none.
 */
export async function createKey(
  host: KeyHost,
  caller: Caller,
  request: CreateKeyRequest,
  record: Recorder<CreateKeyResponse> = () => undefined,
): Promise<CreateKeyResponse> {
  return changePrincipal(host, caller, request.principal, async (turn) => {
    const { unit, response } = await newKey(host, turn.caller, request, record);
    await requireRoomForKey(host, turn.caller);
    await commitKeys(host, { ...unit, documents: [turn.write, ...(unit.documents ?? [])] });
    return response;
  });
}

interface NewKey {
  readonly unit: Unit;
  readonly response: CreateKeyResponse;
}

async function newKey(
  host: KeyHost,
  caller: Caller,
  request: CreateKeyRequest,
  record: Recorder<CreateKeyResponse>,
): Promise<NewKey> {
  const { principal } = request;
  const reserved = reservedProblem(principal);
  if (reserved !== undefined) throw new AppError("validation_error", { problem: `principal: ${reserved}` });
  requireHarmlessNames(host, [principal, ...(request.groups ?? []), request.workspace ?? ""]);
  const label = request.label === undefined ? undefined : host.scrubber.scrubText(request.label);
  const kind = grantedKind(caller, request.kind);
  const nowMs = host.nowMs();
  const place = placeOf(caller, request.workspace);
  const expiresAtMs = request.expiresAt === undefined ? undefined : futureMs(request.expiresAt, nowMs);
  const before = await membershipHere(host.store, place, principal);
  const roles = before === undefined ? (request.roles ?? ["viewer"]) : request.roles;
  const table = await tableWith(host, place, request.roles ?? []);
  const scopes = grantedScopes(caller, request.scopes, table);
  const reached = await reachedBy(host.store, caller, place, principal);
  requireGrantable(caller, [...(before?.roles ?? []), ...reached.roles, ...(roles ?? [])]);
  requireGroupsGrantable(caller, [...(before?.groups ?? []), ...reached.groups, ...(request.groups ?? [])]);
  const leaving = roles === undefined ? [] : await requireOwnerLeft(host, place, principal, roles);
  const added = (request.roles ?? []).filter((role) => !before?.roles.includes(role));
  const isKnown = before !== undefined || (await hasKeys(host.store, place.tenant, principal));
  requireWithinKey(caller, added, table, isKnown);
  await requireWithinMakers(host, caller, place, {
    principal,
    before,
    roles: roles ?? [],
    groups: request.groups ?? [],
  });

  const wish = { ...(roles && { roles }), ...(request.groups && { groups: request.groups }) };
  const binding = bindingAfter(place, principal, wish);
  if (binding !== undefined) await requireShortNames(host.store, binding);
  const key = newApiKey();
  const keyId = host.newId("key");
  const origin = await originWrite(host.store, caller, { keyId, tenant: place.tenant, principal, scopes }, nowMs);
  const details = {
    principal,
    kind,
    scopes: scopes.join(" "),
    ...(roles === undefined ? {} : { roles: roles.join(" ") }),
    ...(request.groups === undefined ? {} : { groups: request.groups.join(" ") }),
    ...defined({ workspace: place.workspace }),
    ...(expiresAtMs === undefined ? {} : { expiresAt: new Date(expiresAtMs).toISOString() }),
  };
  const made = {
    ...place,
    keyId,
    hash: hashOfKey(key),
    principal,
    kind,
    scopes,
    createdAtMs: nowMs,
    ...defined({ label, expiresAtMs }),
  };
  const held = await membershipAfter(host, place, principal, {
    roles: roles ?? before?.roles ?? [],
    groups: request.groups ?? before?.groups ?? [],
  });
  const response = { key, info: keyInfo({ ...made, ...held }) };
  const outcome = record(response);
  const unit: Unit = {
    tenant: place.tenant,
    keys: [{ type: "put", key: made }],
    ...(binding === undefined ? {} : { roles: [binding] }),
    documents: [...leaving, ...(origin === undefined ? [] : [origin])],
    audit: [auditDraft(caller, nowMs, keyId, { action: "key.created", details })],
    ...defined({ idempotency: outcome }),
  };
  return { unit, response };
}

/** What a principal has in a place: what it is given there, and what it has in the whole tenant. */
export async function membershipAfter(
  { store }: Pick<KeyHost, "store">,
  { tenant, workspace }: Visibility,
  principal: string,
  given: Membership,
): Promise<Membership> {
  const wide = workspace === undefined ? { roles: [], groups: [] } : await store.membershipOf({ tenant }, principal);
  return {
    roles: [...new Set([...wide.roles, ...given.roles])],
    groups: [...new Set([...wide.groups, ...given.groups])],
  };
}

export async function listKeys(host: Pick<KeyHost, "store">, caller: Caller): Promise<{ keys: KeyInfo[] }> {
  const keys: KeyInfo[] = [];
  for await (const page of keyPages(host, caller)) keys.push(...page);
  return { keys };
}

const PAGE_KEYS = 100;

/** The keys that the caller sees, oldest first, a page at a time. */
export async function* keyPages({ store }: Pick<KeyHost, "store">, caller: Caller): AsyncGenerator<KeyInfo[]> {
  for (let after: KeyRecord | undefined; ; ) {
    const page = await store.listKeys(visibilityOf(caller), { limit: PAGE_KEYS, ...(after && { after }) });
    yield page.map(keyInfo);
    after = page.at(-1);
    if (page.length < PAGE_KEYS) return;
  }
}

interface RevokeKey {
  readonly caller: Caller;
  readonly keyId: string;
  readonly record: Recorder<KeyInfo>;
}

/**
 * Ends a key that the caller can see, its own included; not one of somebody whose roles are above the caller's, who
 * could be locked out that way. One that has ended already stays as it is.
 */
export async function revokeKey(host: KeyHost, { caller, keyId, record }: RevokeKey): Promise<KeyInfo> {
  const key = await host.store.readKey(visibilityOf(caller), keyId);
  if (!key) throw new AppError("not_found", { what: "key", keyId });
  const reached = await reachedBy(host.store, caller, key, key.principal);
  requireGrantable(caller, [...key.roles, ...reached.roles]);
  requireGroupsGrantable(caller, [...key.groups, ...reached.groups]);
  const nowMs = host.nowMs();
  const ends = key.revokedAtMs === undefined;
  const info = keyInfo({ ...key, revokedAtMs: key.revokedAtMs ?? nowMs });
  const outcome = record(info);
  if (!ends && outcome === undefined) return info;
  const details = { principal: key.principal };
  await commitKeys(host, {
    tenant: caller.tenant,
    ...(ends ? { keys: [{ type: "revoke", keyId, atMs: nowMs }] } : {}),
    ...(ends ? { audit: [auditDraft(caller, nowMs, keyId, { action: "key.revoked", details })] } : {}),
    ...defined({ idempotency: outcome }),
  });
  return info;
}

/**
 * Commits, and signs the first checkpoint of a tenant whose log began with it (spec §17.4). The change stands whether
 * or not that works, and a new key can be shown only now; the next sweep makes up for a checkpoint that failed.
 */
export async function commitKeys(host: KeyHost, unit: Unit): Promise<void> {
  const begins = host.checkpointer !== undefined && (await host.store.auditHead(unit.tenant)) === undefined;
  const committed = await host.store.commit(unit);
  if (!committed.ok) throw refused(committed.refusal);
  if (begins) await host.checkpointer?.checkpointTenant(unit.tenant).catch(() => {});
}

/** A key, without what must never be shown. */
function keyInfo(key: KeyRecord): KeyInfo {
  const { keyId, tenant, workspace, principal, kind, roles, groups, scopes, label } = key;
  const at = (name: string, ms: number | undefined) => (ms === undefined ? {} : { [name]: new Date(ms).toISOString() });
  return {
    keyId,
    tenant,
    ...defined({ workspace }),
    principal,
    kind,
    roles: [...roles],
    groups: [...groups],
    scopes: [...scopes],
    ...defined({ label }),
    createdAt: new Date(key.createdAtMs).toISOString(),
    ...at("expiresAt", key.expiresAtMs),
    ...at("revokedAt", key.revokedAtMs),
    ...at("lastUsedAt", key.lastUsedAtMs),
  };
}

/**
 * Names of principals, groups, roles and workspaces are found by every letter of them, so one that looks like a secret is refused and not scrubbed. The
 * error does not repeat it.
 */
export function requireHarmlessNames({ scrubber }: Pick<Host, "scrubber">, names: readonly string[]): void {
  if (names.every((name) => scrubber.scrubText(name) === name)) return;
  const problem =
    "a name of a principal, group, role or workspace looks like a secret; names are shown and kept, choose another one";
  throw new AppError("validation_error", { problem });
}

/** Where a caller's wish is about: its tenant, or the workspace it is bound to, or one of its tenant's it names. */
export function placeOf({ tenant, workspace: own }: Caller, wished: string | undefined): Visibility {
  if (own !== undefined && wished !== undefined && wished !== own) {
    const problem = `workspace must be "${own}", the one this key is bound to, or left out`;
    throw new AppError("validation_error", { problem });
  }
  const workspace = own ?? wished;
  return workspace === undefined ? { tenant } : { tenant, workspace };
}

export function visibilityOf({ tenant, workspace }: Caller): Visibility {
  return workspace === undefined ? { tenant } : { tenant, workspace };
}

function futureMs(expiresAt: string, nowMs: number): number {
  const ms = instantMs(expiresAt);
  if (ms !== undefined && ms > nowMs) return ms;
  const problem = "expiresAt must be an instant in the future, such as 2030-01-31T12:00:00Z";
  throw new AppError("validation_error", { problem });
}

/** The roles there are; throws when one of those asked for is not among them. */
export async function tableWith(
  host: Pick<Host, "store">,
  place: Visibility,
  roles: readonly string[],
): Promise<RoleTable> {
  const known = await roleTable(host, place);
  const unknown = roles.find((role) => !Object.hasOwn(known, role));
  if (unknown === undefined) return known;
  const names = Object.keys(known);
  const nearest = closestTo(unknown, names);
  const next = nearest === undefined ? `the roles are ${names.join(", ")}` : `did you mean "${nearest}"?`;
  throw new AppError("validation_error", { problem: `roles: there is no role "${unknown}"; ${next}`, roles: names });
}
