import { closestTo } from "../../protocol/closest-to.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { CreateKeyRequest, CreateKeyResponse, KeyInfo } from "../../protocol/identity/api.ts";
import { type Caller, type Visibility, visibilityOf } from "../../protocol/identity/identity.ts";
import { type RoleTable, reservedProblem } from "../../protocol/identity/scopes.ts";
import { instantMs, isoOf } from "../../protocol/instant.ts";
import type { Membership } from "../../store/port/gates.ts";
import type { KeyRecord, Unit } from "../../store/port/store.ts";
import { auditDraft, commitUnit, type Recorder } from "../execute.ts";
import type { Host } from "../host.ts";
import { hashOfKey, newApiKey } from "./authenticate.ts";
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
 * Makes a key in the caller's tenant and, if the caller is bound to one, its workspace. Only the response shows the key.
 *
 * Roles belong to the principal, not to the key. An unknown principal gets the roles of the request, or `viewer`. A known one keeps its roles
 * unless the request has roles: these replace its roles here, for its other keys too, and the caller must be able to grant the old and the new
 * ones. The same holds for groups, of which an unknown principal has none by default.
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
  if (reserved !== undefined) throw validationError(`principal: ${reserved}`);
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
  const raised = { principal, before, roles: roles ?? [], groups: request.groups ?? [] };
  await requireWithinMakers(host, caller, place, raised);

  const binding = bindingAfter(place, principal, defined({ roles, groups: request.groups }));
  if (binding !== undefined) await requireShortNames(host.store, binding);
  const key = newApiKey();
  const keyId = host.newId("key");
  const origin = await originWrite(host.store, caller, { keyId, tenant: place.tenant, principal, scopes }, nowMs);
  const details = defined({
    principal,
    kind,
    scopes: scopes.join(" "),
    roles: roles?.join(" "),
    groups: request.groups?.join(" "),
    workspace: place.workspace,
    expiresAt: expiresAtMs === undefined ? undefined : isoOf(expiresAtMs),
  });
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

/** The roles and groups of a principal in a place: those given there, and those in the whole tenant. */
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

/** The keys that the caller can see, oldest first, page by page. */
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
 * Revokes a key that the caller can see, its own included, but no key of a principal with roles above the caller's, who could be locked out. A
 * revoked key stays as it is.
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
 * Commits a unit, and signs the first checkpoint of a tenant whose log began with it (spec §17.4). The change is made whether or not the checkpoint
 * succeeds, because a new key can be shown only now; the next sweep signs a checkpoint that failed.
 */
export async function commitKeys(host: KeyHost, unit: Unit): Promise<void> {
  const begins = host.checkpointer !== undefined && (await host.store.auditHead(unit.tenant)) === undefined;
  await commitUnit(host, unit);
  if (begins) await host.checkpointer?.checkpointTenant(unit.tenant).catch(() => {});
}

/** A key without its secret parts. */
function keyInfo(key: KeyRecord): KeyInfo {
  const { keyId, tenant, workspace, principal, kind, roles, groups, scopes, label } = key;
  const at = (ms: number | undefined) => (ms === undefined ? undefined : isoOf(ms));
  return defined({
    keyId,
    tenant,
    workspace,
    principal,
    kind,
    roles: [...roles],
    groups: [...groups],
    scopes: [...scopes],
    label,
    createdAt: isoOf(key.createdAtMs),
    expiresAt: at(key.expiresAtMs),
    revokedAt: at(key.revokedAtMs),
    lastUsedAt: at(key.lastUsedAtMs),
  });
}

/** Refuses names of principals, groups, roles and workspaces that look like secrets: scrubbed, they would not match any more. The error does not repeat them. */
export function requireHarmlessNames({ scrubber }: Pick<Host, "scrubber">, names: readonly string[]): void {
  if (names.every((name) => scrubber.scrubText(name) === name)) return;
  const problem =
    "a name of a principal, group, role or workspace looks like a secret; names are shown and kept, choose another one";
  throw validationError(problem);
}

/** The place of a request: the workspace that the caller is bound to, the one it names, or the whole tenant. */
export function placeOf({ tenant, workspace: own }: Caller, wished: string | undefined): Visibility {
  if (own !== undefined && wished !== undefined && wished !== own) {
    throw validationError(`workspace must be "${own}", the one this key is bound to, or left out`);
  }
  return defined({ tenant, workspace: own ?? wished });
}

function futureMs(expiresAt: string, nowMs: number): number {
  const ms = instantMs(expiresAt);
  if (ms !== undefined && ms > nowMs) return ms;
  throw validationError("expiresAt must be an instant in the future, such as 2030-01-31T12:00:00Z");
}

/** The roles of a place. Throws where one of the requested roles is not among them. */
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
  throw validationError(`roles: there is no role "${unknown}"; ${next}`, { roles: names });
}
