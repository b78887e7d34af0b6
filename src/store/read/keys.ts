import type { ExpressionBuilder, Kysely, Selectable, SelectQueryBuilder } from "kysely";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Membership } from "../port/gates.ts";
import type { KeyOutline, KeyPage, KeyRecord, StoredBinding } from "../port/store.ts";
import { type KeyAndRoles, toKeyRecord, toMembership } from "../rows/rows.ts";
import { type ApiKeysTable, apiKeys, roleBindings } from "../schema/identity.ts";
import type { Tables } from "../schema/tables.ts";
import { inBatches } from "./conditions.ts";

/** The workspace under which roles hold in all of the tenant. */
const TENANT_WIDE = "";

export async function listKeys(db: Kysely<Tables>, visible: Visibility, page?: KeyPage): Promise<KeyRecord[]> {
  // The page is cut before roles are joined: a key has several rows then.
  const keys = visibleKeys(db, visible)
    .selectAll("key")
    .$if(page?.after !== undefined, (all) => all.where((on) => isAfter(on, page?.after)))
    .orderBy("key.created_at")
    .orderBy("key.key_id")
    .$if(page !== undefined, (all) => all.limit(page?.limit ?? 0));
  const rows = await withRoles(db, keys)
    .clearOrderBy()
    .orderBy("key.created_at")
    .orderBy("key.key_id")
    .orderBy("binding.workspace")
    .execute();
  const byKey = new Map<string, [KeyAndRoles, ...KeyAndRoles[]]>();
  for (const row of rows) {
    const known = byKey.get(row.key_id);
    if (known === undefined) byKey.set(row.key_id, [row]);
    else known.push(row);
  }
  return [...byKey.values()].map(toKeyRecord);
}

function isAfter(on: ExpressionBuilder<Tables & { key: ApiKeysTable }, "key">, last: KeyPage["after"]) {
  const { createdAtMs = 0, keyId = "" } = last ?? {};
  const sameTime = on.and([on("key.created_at", "=", createdAtMs), on("key.key_id", ">", keyId)]);
  return on.or([on("key.created_at", ">", createdAtMs), sameTime]);
}

/** The database goes through all keys of the tenant for each statement, however many principals it is about. */
export async function keysOf(
  db: Kysely<Tables>,
  visible: Visibility,
  principals: readonly string[],
): Promise<KeyOutline[]> {
  const rows = await inBatches(principals, (names) =>
    visibleKeys(db, visible)
      .select(OUTLINE)
      .where("key.principal", "in", names)
      .orderBy("key.created_at")
      .orderBy("key.key_id")
      .execute(),
  );
  return rows.map(apiKeys.toRecord);
}

export async function keysByPrincipal(
  db: Kysely<Tables>,
  visible: Visibility,
  after: string,
  limit: number,
): Promise<KeyOutline[]> {
  const names = visibleKeys(db, visible)
    .select("key.principal")
    .distinct()
    .where("key.principal", ">", after)
    .orderBy("key.principal")
    .limit(limit);
  const rows = await visibleKeys(db, visible)
    .select(OUTLINE)
    .where("key.principal", "in", db.selectFrom(names.as("name")).select("name.principal"))
    .orderBy("key.principal")
    .orderBy("key.created_at")
    .orderBy("key.key_id")
    .execute();
  return rows.map(apiKeys.toRecord);
}

export async function countWorkingKeys(db: Kysely<Tables>, tenant: string, nowMs: number): Promise<number> {
  const { count } = await workingKeys(db, tenant, nowMs)
    .select((on) => on.fn.countAll().as("count"))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Candidates whose roles are read at once. */
const OWNERS_AT_ONCE = 100;

/**
 * Only keys of principals whose roles mention an owner are read, a few at a time. The pattern is a filter, not the rule: it
 * ignores case on SQLite, and a name may end in `"owner`. So the names themselves decide.
 */
export async function hasOtherOwner(
  db: Kysely<Tables>,
  tenant: string,
  principal: string,
  nowMs: number,
): Promise<boolean> {
  for (let after = ""; ; ) {
    const some = await workingKeys(db, tenant, nowMs)
      .innerJoin("role_bindings as binding", (join) =>
        join.onRef("binding.tenant", "=", "key.tenant").onRef("binding.principal", "=", "key.principal"),
      )
      .select(["key.key_id", "binding.roles", "binding.group_names"])
      .where("key.workspace", "is", null)
      .where("binding.workspace", "=", TENANT_WIDE)
      .where("key.principal", "<>", principal)
      .where("binding.roles", "like", '%"owner"%')
      .where("key.key_id", ">", after)
      .orderBy("key.key_id")
      .limit(OWNERS_AT_ONCE)
      .execute();
    if (some.some((row) => toMembership([row]).roles.includes("owner"))) return true;
    const last = some.at(-1);
    if (last === undefined || some.length < OWNERS_AT_ONCE) return false;
    after = last.key_id;
  }
}

function workingKeys(db: Kysely<Tables>, tenant: string, nowMs: number) {
  return visibleKeys(db, { tenant })
    .where("key.revoked_at", "is", null)
    .where((on) => on.or([on("key.expires_at", "is", null), on("key.expires_at", ">", nowMs)]));
}

export async function readKey(db: Kysely<Tables>, visible: Visibility, keyId: string): Promise<KeyRecord | undefined> {
  const found = visibleKeys(db, visible).selectAll("key").where("key.key_id", "=", keyId);
  const [first, ...rest] = await withRoles(db, found).execute();
  return first && toKeyRecord([first, ...rest]);
}

function visibleKeys(db: Kysely<Tables>, { tenant, workspace }: Visibility) {
  return db
    .selectFrom("api_keys as key")
    .where("key.tenant", "=", tenant)
    .$if(workspace !== undefined, (keys) => keys.where("key.workspace", "=", workspace ?? ""));
}

export async function customRoles(
  db: Kysely<Tables>,
  tenant: string,
  workspace: string | undefined,
): Promise<Record<string, readonly string[]>> {
  return rolesIn(db, tenant, [TENANT_WIDE, workspace ?? TENANT_WIDE]);
}

export async function ownRoles(
  db: Kysely<Tables>,
  tenant: string,
  workspace: string | undefined,
): Promise<Record<string, readonly string[]>> {
  return rolesIn(db, tenant, [workspace ?? TENANT_WIDE]);
}

async function rolesIn(
  db: Kysely<Tables>,
  tenant: string,
  workspaces: readonly string[],
): Promise<Record<string, readonly string[]>> {
  const rows = await db
    .selectFrom("role_definitions")
    .select(["role", "scopes"])
    .where("tenant", "=", tenant)
    .where("workspace", "in", workspaces)
    // A definition of the workspace comes last and replaces the tenant-wide one.
    .orderBy("workspace")
    .execute();
  return Object.fromEntries(rows.map((row) => [row.role, JSON.parse(row.scopes) as string[]]));
}

export async function hasKeys(db: Kysely<Tables>): Promise<boolean> {
  return (await db.selectFrom("api_keys").select("key_id").limit(1).executeTakeFirst()) !== undefined;
}

export async function membershipAnywhere(db: Kysely<Tables>, tenant: string, principal: string): Promise<Membership> {
  const rows = await db
    .selectFrom("role_bindings")
    .select(["roles", "group_names"])
    .where("tenant", "=", tenant)
    .where("principal", "=", principal)
    .orderBy("workspace")
    .execute();
  return toMembership(rows);
}

export async function bindingsOf(
  db: Kysely<Tables>,
  tenant: string,
  principals: readonly string[],
): Promise<StoredBinding[]> {
  const rows = await inBatches(principals, (names) =>
    db
      .selectFrom("role_bindings")
      .select(["workspace", "principal", "roles", "group_names"])
      .where("tenant", "=", tenant)
      .where("principal", "in", names)
      .orderBy("workspace")
      .execute(),
  );
  return rows.map(({ workspace, ...row }) => ({
    ...(workspace === TENANT_WIDE ? {} : { workspace }),
    ...roleBindings.toRecord(row),
  }));
}

const OUTLINE = [
  "key.key_id",
  "key.principal",
  "key.kind",
  "key.workspace",
  "key.created_at",
  "key.expires_at",
  "key.revoked_at",
] as const;

/** Keys with the roles of their principal that hold tenant-wide, then those of the key's workspace: one row for each place. */
function withRoles<T extends keyof D, D extends Tables>(
  db: Kysely<Tables>,
  keys: SelectQueryBuilder<D, T, Selectable<ApiKeysTable>>,
) {
  return db
    .selectFrom(keys.as("key"))
    .leftJoin("role_bindings as binding", (join) =>
      join
        .onRef("binding.tenant", "=", "key.tenant")
        .onRef("binding.principal", "=", "key.principal")
        .on((on) =>
          on.or([on("binding.workspace", "=", TENANT_WIDE), on("binding.workspace", "=", on.ref("key.workspace"))]),
        ),
    )
    .selectAll("key")
    .select(["binding.roles", "binding.group_names"])
    .orderBy("binding.workspace");
}
