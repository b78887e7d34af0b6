import { defined } from "../../protocol/defined.ts";
import { unusableInput } from "../../protocol/errors.ts";
import { BUILT_IN_ROLES, EVERY_SCOPE, grants, type RoleTable } from "../../protocol/identity/scopes.ts";
import type { CreateKeyRequest, KeyInfo } from "../../protocol/runs/api.ts";
import { type Client, connect } from "../client/client.ts";
import { split } from "../files/arguments.ts";
import { formatAgo, fromNow } from "../output/amount.ts";
import type { Paint } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { formatFields, printableFields, printList } from "../output/table.ts";
import type { Call, FlagValues } from "../program/command.ts";
import type { KEY_CREATE_FLAGS, TENANT_FLAGS } from "./commands.ts";
import { withIdentity } from "./identity-client.ts";

export async function keyCreate(call: Call<typeof KEY_CREATE_FLAGS>): Promise<undefined> {
  const { json, io } = call;
  const request = requestOf(call, Date.now());
  const { created, idle } = await withIdentity(call, async (identity) => {
    const created = await identity.createKey(request);
    return { created, idle: await idleScopes(identity, created.info, request.scopes ?? []) };
  });
  // The key alone, so that a script can take it: ASSAY_KEY=$(assay key create …).
  io.out(json ? JSON.stringify(created) : created.key);
  if (!json) io.err(describe(created.info));
  if (idle.length > 0) io.err(`assay: warning: ${printable(idleText(idle, created.info))}`);
}

/** The requested scopes that no role of the principal grants: a request needs its scope in the key and in a role. */
async function idleScopes(
  identity: Client["identity"],
  { roles, workspace }: KeyInfo,
  asked: readonly string[],
): Promise<string[]> {
  if (asked.length === 0) return [];
  const listed = await identity.roles({ workspace }).then(
    ({ roles }) => Object.fromEntries(roles.map(({ role, scopes }) => [role, scopes])),
    () => ({}),
  );
  const table: RoleTable = { ...BUILT_IN_ROLES, ...listed };
  // A role that cannot be read may grant anything.
  if (roles.some((role) => !Object.hasOwn(table, role))) return [];
  const held = roles.flatMap((role) => table[role] ?? []);
  return asked.filter((scope) => scope !== EVERY_SCOPE && !grants(held, scope));
}

function idleText(idle: readonly string[], { principal, roles }: KeyInfo): string {
  const role = roles.length === 1 ? "role" : "roles";
  const why =
    roles.length === 0
      ? `${principal} has no role`
      : `not granted by the ${role} of ${principal} (${roles.join(", ")})`;
  return (
    `The key cannot use ${idle.join(", ")}: ${why}. ` +
    `\`assay role list\` shows what roles grant; give one with \`assay principal set ${principal} --roles LIST\`.`
  );
}

function requestOf({ flags }: Call<typeof KEY_CREATE_FLAGS>, nowMs: number): CreateKeyRequest {
  const { principal, roles, group, scopes, kind, workspace, label } = flags;
  if (principal === undefined) throw unusableInput("--principal is missing; it says who the key is for");
  const names = (items: readonly string[]) => (items.length === 0 ? undefined : split(items));
  return defined({
    principal,
    kind,
    workspace,
    roles: names(roles),
    groups: names(group),
    scopes: names(scopes),
    label,
    expiresAt: expiryOf(flags, nowMs),
  });
}

function expiryOf({ expiresIn, expiresAt }: FlagValues<typeof KEY_CREATE_FLAGS>, nowMs: number): string | undefined {
  if (expiresIn === undefined) return expiresAt;
  if (expiresAt !== undefined) throw unusableInput("use either --expires-in or --expires-at");
  const end = fromNow(expiresIn, nowMs);
  if (end !== undefined) return end;
  throw unusableInput(`--expires-in ${expiresIn} must look like 45m, 12h or 30d`);
}

function describe({ keyId, tenant, principal, roles, expiresAt }: KeyInfo): string {
  const as = roles.length === 0 ? "without a role" : `as ${roles.join(", ")}`;
  const until = expiresAt === undefined ? "" : `, until ${expiresAt}`;
  return printable(`${keyId}: for ${principal} of tenant ${tenant} ${as}${until}. The key is not shown again.`);
}

export async function keyList(call: Call<typeof TENANT_FLAGS>): Promise<undefined> {
  const { keys } = await withIdentity(call, (identity) => identity.keys());
  const nowMs = Date.now();
  const answer = { keys };
  printList(call, keys, answer, {
    empty: "No keys. Make one with: assay key create --principal ID --roles owner --data DIR",
    headings: ["KEY ID", "PRINCIPAL", "WORKSPACE", "ROLES", "GROUPS", "SCOPES", "STATE", "USED", "LABEL"],
    row: (key) => [
      key.keyId,
      printable(`${key.principal}${key.kind === "user" ? "" : ` (${key.kind})`}`),
      printable(key.workspace ?? "-"),
      printable(key.roles.join(",") || "-"),
      printable(key.groups.join(",") || "-"),
      printable(key.scopes.join(",")),
      state(key, call.io.paint, nowMs),
      formatAgo(key.lastUsedAt, nowMs),
      printable(key.label ?? ""),
    ],
  });
}

function state({ revokedAt, expiresAt }: KeyInfo, paint: Paint, nowMs: number): string {
  if (revokedAt !== undefined) return paint.yellow("revoked");
  if (expiresAt === undefined) return paint.green("valid");
  return Date.parse(expiresAt) <= nowMs ? paint.yellow("expired") : `until ${expiresAt.slice(0, 16)}Z`;
}

export async function keyRevoke(call: Call<typeof TENANT_FLAGS>): Promise<undefined> {
  const { args, json, io } = call;
  const revoked = await withIdentity(call, async (identity) => {
    const done: KeyInfo[] = [];
    for (const keyId of args) done.push(await identity.revokeKey(keyId));
    return done;
  });
  if (json) io.out(JSON.stringify({ keys: revoked }));
  for (const { keyId, principal, revokedAt } of json ? [] : revoked) {
    io.out(printable(`${keyId} of ${principal} revoked at ${revokedAt}`));
  }
}

export async function whoami({ json, config, io }: Call): Promise<undefined> {
  const me = await connect(config).identity.whoAmI();
  if (json) return void io.out(JSON.stringify(me));
  const fields = printableFields({
    Server: config.url,
    Tenant: me.tenant,
    Workspace: me.workspace,
    Principal: `${me.principal} (${me.kind})`,
    Roles: me.roles.join(", ") || "none",
    Groups: me.groups.join(", ") || "none",
    Scopes: me.scopes.join(", ") || "none",
  });
  return void io.out(formatFields(fields, io.paint));
}
