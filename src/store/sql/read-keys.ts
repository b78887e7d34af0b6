import type { Kysely } from "kysely";
import type { Visibility } from "../../protocol/identity.ts";
import type { Membership } from "../gates.ts";
import type { KeyRecord } from "../store.ts";
import { type KeyAndRoles, toKeyRecord, toMembership } from "./rows.ts";
import type { Tables } from "./tables.ts";

/** The workspace under which roles hold in all of the tenant. */
const TENANT_WIDE = "";

export async function findKey(db: Kysely<Tables>, hash: string): Promise<KeyRecord | undefined> {
  const [first, ...rest] = await keysAndRoles(db).where("key.hash", "=", hash).execute();
  return first && toKeyRecord([first, ...rest]);
}

export async function listKeys(db: Kysely<Tables>, visible: Visibility, principal?: string): Promise<KeyRecord[]> {
  const rows = await visibleKeys(db, visible)
    .$if(principal !== undefined, (keys) => keys.where("key.principal", "=", principal ?? ""))
    .orderBy("key.created_at")
    .orderBy("key.key_id")
    .execute();
  const byKey = new Map<string, [KeyAndRoles, ...KeyAndRoles[]]>();
  for (const row of rows) {
    const known = byKey.get(row.key_id);
    if (known === undefined) byKey.set(row.key_id, [row]);
    else known.push(row);
  }
  return [...byKey.values()].map(toKeyRecord);
}

export async function readKey(db: Kysely<Tables>, visible: Visibility, keyId: string): Promise<KeyRecord | undefined> {
  const [first, ...rest] = await visibleKeys(db, visible).where("key.key_id", "=", keyId).execute();
  return first && toKeyRecord([first, ...rest]);
}

function visibleKeys(db: Kysely<Tables>, { tenant, workspace }: Visibility) {
  return keysAndRoles(db)
    .where("key.tenant", "=", tenant)
    .$if(workspace !== undefined, (keys) => keys.where("key.workspace", "=", workspace ?? ""));
}

export async function customRoles(
  db: Kysely<Tables>,
  tenant: string,
  workspace: string | undefined,
): Promise<Record<string, readonly string[]>> {
  const rows = await db
    .selectFrom("role_definitions")
    .select(["role", "scopes"])
    .where("tenant", "=", tenant)
    .where("workspace", "in", [TENANT_WIDE, workspace ?? TENANT_WIDE])
    // The workspace's own comes last and wins.
    .orderBy("workspace")
    .execute();
  return Object.fromEntries(rows.map((row) => [row.role, JSON.parse(row.scopes) as string[]]));
}

export async function ownRoles(
  db: Kysely<Tables>,
  tenant: string,
  workspace: string | undefined,
): Promise<Record<string, readonly string[]>> {
  const rows = await db
    .selectFrom("role_definitions")
    .select(["role", "scopes"])
    .where("tenant", "=", tenant)
    .where("workspace", "=", workspace ?? TENANT_WIDE)
    .execute();
  return Object.fromEntries(rows.map((row) => [row.role, JSON.parse(row.scopes) as string[]]));
}

export async function hasKeys(db: Kysely<Tables>): Promise<boolean> {
  return (await db.selectFrom("api_keys").select("key_id").limit(1).executeTakeFirst()) !== undefined;
}

export async function membershipOf(
  db: Kysely<Tables>,
  { tenant, workspace }: Visibility,
  principal: string,
): Promise<Membership> {
  const rows = await db
    .selectFrom("role_bindings")
    .select(["roles", "group_names"])
    .where("tenant", "=", tenant)
    .where("workspace", "in", [TENANT_WIDE, workspace ?? TENANT_WIDE])
    .where("principal", "=", principal)
    .orderBy("workspace")
    .execute();
  return toMembership(rows);
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

/** A key has the roles of its principal in its workspace and those that hold tenant-wide. */
function keysAndRoles(db: Kysely<Tables>) {
  return db
    .selectFrom("api_keys as key")
    .leftJoin("role_bindings as binding", (join) =>
      join
        .onRef("binding.tenant", "=", "key.tenant")
        .onRef("binding.principal", "=", "key.principal")
        .on((on) =>
          on.or([on("binding.workspace", "=", TENANT_WIDE), on("binding.workspace", "=", on.ref("key.workspace"))]),
        ),
    )
    .selectAll("key")
    .select(["binding.roles", "binding.group_names"]);
}
