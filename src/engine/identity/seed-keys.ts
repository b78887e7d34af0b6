import { defined } from "../../protocol/defined.ts";
import { validationError } from "../../protocol/errors.ts";
import type { KeyFileEntry } from "../../protocol/identity/api.ts";
import { EVERY_SCOPE, reservedProblem } from "../../protocol/identity/scopes.ts";
import { instantMs, isoOf } from "../../protocol/instant.ts";
import type { KeyRecord, RoleBinding, Unit } from "../../store/port/store.ts";
import { onceOnly, RecordedOutcome } from "../shared/once-only.ts";
import { hashOfKey, newApiKey } from "./authenticate.ts";
import { commitKeys, type KeyHost, requireHarmlessNames } from "./keys.ts";

const MANY_AT_ONCE = 200;

/**
 * Writes the keys of a `--keys` file to the store at each start. The file takes precedence, also over a key that was revoked or a principal whose
 * roles were changed since. An entry without `roles` grants none, and one without `groups` is in none. Entries of the same principal in the same
 * place add up. Only changes are audited. Throws `validation_error` for two entries with the same key.
 */
export async function seedKeys(host: KeyHost, entries: readonly KeyFileEntry[]): Promise<void> {
  const hashes = entries.map((entry) => hashOfKey(entry.key));
  refuseRepeats(hashes);
  // Checked before anything is written: a file is taken as a whole or not at all.
  for (const entry of entries) expiryOf(entry);
  for (const { principal, groups = [], roles = [] } of entries) {
    requireHarmlessNames(host, [principal, ...groups, ...roles]);
  }
  await refuseReserved(host, entries, hashes);
  const bindings = bindingsOf(entries);
  const begins = await someLogBegins(host, entries);
  for (let i = 0; i < entries.length; i += MANY_AT_ONCE) {
    const batch = entries.slice(i, i + MANY_AT_ONCE);
    await Promise.all(
      batch.map(async (entry, j) => {
        const binding = bindings.get(placeOf(entry));
        if (binding) await seedKey(host, entry, hashes[i + j] ?? "", binding);
      }),
    );
  }
  // A sweep treats a log without a checkpoint as due at once; one sweep for all tenants is cheaper than one for each.
  if (begins) await host.checkpointer?.sweep().catch(() => {});
}

/** Refuses reserved names of principals, except for keys that are in the database already. */
async function refuseReserved(
  { store }: Pick<KeyHost, "store">,
  entries: readonly KeyFileEntry[],
  hashes: readonly string[],
): Promise<void> {
  for (const [i, { principal }] of entries.entries()) {
    const problem = reservedProblem(principal);
    if (problem === undefined || (await store.findKey(hashes[i] ?? "")) !== undefined) continue;
    throw validationError(`the principal of key ${i + 1} in the file: ${problem}`);
  }
}

async function seedKey(host: KeyHost, entry: KeyFileEntry, hash: string, binding: RoleBinding): Promise<void> {
  const { tenant, workspace, principal, kind = "user", scopes = ["*"], label } = entry;
  const nowMs = host.nowMs();
  const before = await host.store.findKey(hash);
  const expiresAtMs = expiryOf(entry);
  const key = defined({
    keyId: before?.keyId ?? host.newId("key"),
    hash,
    tenant,
    workspace,
    principal,
    kind,
    scopes,
    label: label === undefined ? undefined : host.scrubber.scrubText(label),
    createdAtMs: before?.createdAtMs ?? nowMs,
    expiresAtMs,
  });
  const { roles = [], groups = [] } = binding;
  const action = changeOf(before, { ...key, roles, groups });
  const details = {
    principal,
    kind,
    scopes: scopes.join(" "),
    roles: roles.join(" "),
    ...(groups.length === 0 ? {} : { groups: groups.join(" ") }),
    source: "--keys",
  };
  const changes: Pick<Unit, "keys" | "audit"> =
    action === undefined
      ? {}
      : {
          keys: [{ type: "put", key }],
          audit: [{ occurredAt: isoOf(nowMs), actor: "host", action, target: key.keyId, details }],
        };
  const committed = await host.store.commit({ tenant, roles: [binding], ...changes });
  if (!committed.ok) throw new Error(`a key of the file was refused: ${committed.refusal.type}`);
}

/** The audited change of a key. A lost role of a key in a workspace is not noticed, because the principal may have it in the whole tenant. */
function changeOf(before: KeyRecord | undefined, after: KeyRecord): "key.created" | "key.changed" | undefined {
  if (before === undefined || before.tenant !== after.tenant) return "key.created";
  const sameNames = (old: readonly string[], now: readonly string[]) =>
    now.every((name) => old.includes(name)) &&
    (after.workspace !== undefined || old.every((name) => now.includes(name)));
  const sameBinding = sameNames(before.roles, after.roles) && sameNames(before.groups, after.groups);
  const same = before.revokedAtMs === undefined && sameBinding && contentOf(before) === contentOf(after);
  return same ? undefined : "key.changed";
}

function contentOf({ workspace, principal, kind, scopes, label, expiresAtMs }: KeyRecord): string {
  return JSON.stringify([workspace, principal, kind, scopes, label, expiresAtMs]);
}

function bindingsOf(entries: readonly KeyFileEntry[]): Map<string, RoleBinding> {
  const bindings = new Map<string, RoleBinding>();
  for (const entry of entries) {
    const { tenant, workspace, principal, roles = [], groups = [] } = entry;
    const others = bindings.get(placeOf(entry));
    bindings.set(placeOf(entry), {
      ...defined({ tenant, workspace }),
      principal,
      roles: [...new Set([...(others?.roles ?? []), ...roles])],
      groups: [...new Set([...(others?.groups ?? []), ...groups])],
    });
  }
  return bindings;
}

function placeOf({ tenant, workspace, principal }: KeyFileEntry): string {
  return JSON.stringify([tenant, workspace, principal]);
}

function refuseRepeats(hashes: readonly string[]): void {
  const seen = new Map<string, number>();
  for (const [i, hash] of hashes.entries()) {
    const first = seen.get(hash);
    if (first !== undefined) throw validationError(`entries ${first} and ${i} of the key file have the same key`);
    seen.set(hash, i);
  }
}

/** The end of a key, which may be past: then the key is refused as expired. */
function expiryOf({ expiresAt }: KeyFileEntry): number | undefined {
  const ms = expiresAt === undefined ? undefined : instantMs(expiresAt);
  if (ms !== undefined || expiresAt === undefined) return ms;
  throw validationError("expiresAt in the key file must be like 2030-01-31T12:00:00Z");
}

async function someLogBegins(host: KeyHost, entries: readonly KeyFileEntry[]): Promise<boolean> {
  if (host.checkpointer === undefined) return false;
  for (const tenant of new Set(entries.map((entry) => entry.tenant))) {
    if ((await host.store.auditHead(tenant)) === undefined) return true;
  }
  return false;
}

const TENANT = "default";
const PRINCIPAL = "owner";
/** Practically for ever: there is one first start. */
const FOR_MS = 100 * 365 * 24 * 3_600_000;

/**
 * Makes an owner's key at the first start and returns it, to be shown once; undefined where there are keys already. Of several processes that start
 * on one empty database, one gets the key.
 */
export async function bootstrapOwnerKey(host: KeyHost): Promise<string | undefined> {
  if (await host.store.hasKeys()) return undefined;
  const key = newApiKey();
  const keyId = host.newId("key");
  const nowMs = host.nowMs();
  const owner = { tenant: TENANT, principal: PRINCIPAL };
  const stored: Omit<KeyRecord, "roles" | "groups"> = {
    ...owner,
    keyId,
    hash: hashOfKey(key),
    kind: "user",
    scopes: [EVERY_SCOPE],
    label: "made at first start",
    createdAtMs: nowMs,
  };
  const details = { principal: PRINCIPAL, kind: "user", scopes: EVERY_SCOPE, roles: "owner", source: "first start" };
  try {
    await commitKeys(host, {
      tenant: TENANT,
      keys: [{ type: "put", key: stored }],
      roles: [{ ...owner, roles: ["owner"] }],
      audit: [{ occurredAt: isoOf(nowMs), actor: "host", action: "key.created", target: keyId, details }],
      idempotency: onceOnly({ tenant: TENANT, what: "first start", subject: "owner", nowMs, forMs: FOR_MS }),
    });
  } catch (error) {
    if (error instanceof RecordedOutcome) return undefined;
    throw error;
  }
  return key;
}
