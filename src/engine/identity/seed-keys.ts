import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { KeyFileEntry } from "../../protocol/identity/api.ts";
import { reservedProblem } from "../../protocol/identity/scopes.ts";
import { instantMs } from "../../protocol/instant.ts";
import type { KeyRecord, RoleBinding, Unit } from "../../store/port/store.ts";
import { hashOfKey } from "./api-key.ts";
import { type KeyHost, requireHarmlessNames } from "./keys.ts";

const MANY_AT_ONCE = 200;

/**
 * Brings the keys of a `--keys` file into the store, at each start: what the file says holds again, also for a key that
 * was revoked or a principal whose roles were changed since. Without `roles` an entry grants nothing, and without `groups` it is in none. Entries of the
 * same principal in the same place add up. Only what changed is audited. Throws `validation_error` for two entries
 * with the same key.
 */
export async function seedKeys(host: KeyHost, entries: readonly KeyFileEntry[]): Promise<void> {
  const hashes = entries.map((entry) => hashOfKey(entry.key));
  refuseRepeats(hashes);
  // Before anything is written: a file is taken as a whole or not at all.
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
  // A sweep treats a log without a checkpoint as due at once; one for all tenants is cheaper than one for each.
  if (begins) await host.checkpointer?.sweep().catch(() => {});
}

/** Keys of such names that are in the database already stay. */
async function refuseReserved(
  { store }: Pick<KeyHost, "store">,
  entries: readonly KeyFileEntry[],
  hashes: readonly string[],
): Promise<void> {
  for (const [i, { principal }] of entries.entries()) {
    const problem = reservedProblem(principal);
    if (problem === undefined || (await store.findKey(hashes[i] ?? "")) !== undefined) continue;
    throw new AppError("validation_error", { problem: `the principal of key ${i + 1} in the file: ${problem}` });
  }
}

async function seedKey(host: KeyHost, entry: KeyFileEntry, hash: string, binding: RoleBinding): Promise<void> {
  const { tenant, workspace, principal, kind = "user", scopes = ["*"], label } = entry;
  const nowMs = host.nowMs();
  const before = await host.store.findKey(hash);
  const expiresAtMs = expiryOf(entry);
  const key = {
    keyId: before?.keyId ?? host.newId("key"),
    hash,
    tenant,
    ...defined({ workspace }),
    principal,
    kind,
    scopes,
    ...(label === undefined ? {} : { label: host.scrubber.scrubText(label) }),
    createdAtMs: before?.createdAtMs ?? nowMs,
    ...defined({ expiresAtMs }),
  };
  const { roles = [], groups = [] } = binding;
  const change = changeOf(before, { ...key, roles, groups });
  const unit: Unit = {
    tenant,
    roles: [binding],
    ...(change === undefined ? {} : { keys: [{ type: "put", key }] }),
    ...(change === undefined
      ? {}
      : {
          audit: [
            {
              occurredAt: new Date(nowMs).toISOString(),
              actor: "host",
              action: change,
              target: key.keyId,
              details: {
                principal,
                kind,
                scopes: scopes.join(" "),
                roles: roles.join(" "),
                ...(groups.length === 0 ? {} : { groups: groups.join(" ") }),
                source: "--keys",
              },
            },
          ],
        }),
  };
  const committed = await host.store.commit(unit);
  if (!committed.ok) throw new Error(`a key of the file was refused: ${committed.refusal.type}`);
}

/** What the audit log should say. A role that a key in a workspace lost goes unnoticed: it may hold tenant-wide too. */
function changeOf(before: KeyRecord | undefined, after: KeyRecord): "key.created" | "key.changed" | undefined {
  if (before === undefined || before.tenant !== after.tenant) return "key.created";
  const sameNames = (old: readonly string[], now: readonly string[]) =>
    now.every((name) => old.includes(name)) &&
    (after.workspace !== undefined || old.every((name) => now.includes(name)));
  const standsAlike = sameNames(before.roles, after.roles) && sameNames(before.groups, after.groups);
  const same = before.revokedAtMs === undefined && standsAlike && contentOf(before) === contentOf(after);
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
    const place = workspace === undefined ? { tenant } : { tenant, workspace };
    bindings.set(placeOf(entry), {
      ...place,
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
    if (first !== undefined) {
      throw new AppError("validation_error", {
        problem: `entries ${first} and ${i} of the key file have the same key`,
      });
    }
    seen.set(hash, i);
  }
}

/** May be over: then the key is refused as expired. */
function expiryOf({ expiresAt }: KeyFileEntry): number | undefined {
  const ms = expiresAt === undefined ? undefined : instantMs(expiresAt);
  if (ms !== undefined || expiresAt === undefined) return ms;
  throw new AppError("validation_error", { problem: "expiresAt in the key file must be like 2030-01-31T12:00:00Z" });
}

async function someLogBegins(host: KeyHost, entries: readonly KeyFileEntry[]): Promise<boolean> {
  if (host.checkpointer === undefined) return false;
  for (const tenant of new Set(entries.map((entry) => entry.tenant))) {
    if ((await host.store.auditHead(tenant)) === undefined) return true;
  }
  return false;
}
