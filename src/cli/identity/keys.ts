import { defined } from "../../protocol/defined.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { CreateKeyRequest, KeyInfo } from "../../protocol/identity/api.ts";
import { BUILT_IN_ROLES, EVERY_SCOPE, grants, type RoleTable } from "../../protocol/identity/scopes.ts";
import { type Client, connect, connectHere } from "../client/client.ts";
import { split } from "../files/arguments.ts";
import { formatAgo, fromNow } from "../output/amount.ts";
import type { Paint } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { formatFields, printableFields, printList } from "../output/table.ts";
import type { Call, FlagValues } from "../program/command.ts";
import { openStore, opensDatabase, requireExisting } from "../server/database.ts";
import type { KEY_CREATE_FLAGS, TENANT_FLAGS } from "./commands.ts";

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

/** The tenant of the owner key that a first start makes. */
const FIRST_TENANT = "default";

/**
 * The client of a server or, when `--data` or `--database-url` is a flag of the call, of a host in this process. These settings do not
 * count in a file or in the environment, where they are meant for the server.
 */
export async function withIdentity<T>(
  { config, given, flags }: Call & { readonly flags: { readonly tenant: string | undefined } },
  use: (identity: Client["identity"]) => Promise<T>,
): Promise<T> {
  if (opensDatabase(given)) return withDatabase(config, flags.tenant ?? FIRST_TENANT, use);
  if (flags.tenant !== undefined) {
    throw unusableInput("--tenant goes with --data or --database-url; a server takes it from your key");
  }
  return use(connect(config).identity);
}

async function withDatabase<T>(
  config: Call["config"],
  tenant: string,
  use: (identity: Client["identity"]) => Promise<T>,
): Promise<T> {
  requireExisting(config);
  const { inProcessFetch } = await import("../../http/in-process.ts");
  const { IDENTITY_ROOMS } = await import("../../http/in-process-rooms.ts");
  const { idSource } = await import("../../engine/host.ts");
  const { OPERATOR_KEY_ID } = await import("../../protocol/identity/identity.ts");
  const { processScrubber } = await import("../wiring/process-scrubber.ts");
  const scrubber = await processScrubber(config);
  const store = await openStore(config);
  const host = { store, scrubber, nowMs: Date.now, newId: idSource(Date.now) };
  try {
    // Access to the database is access to everything; the audit log names the operator's key.
    const operator = { principal: "operator", kind: "user", keyId: OPERATOR_KEY_ID } as const;
    const caller = { tenant, ...operator, roles: ["owner"], groups: [], keyScopes: ["*"] };
    const fetch = inProcessFetch({ host, caller, rooms: IDENTITY_ROOMS });
    return await use(connectHere(fetch).identity);
  } finally {
    await store.close();
  }
}
