import { AppError } from "../../protocol/errors.ts";
import type { PrincipalKind } from "../../protocol/identity/identity.ts";
import { BUILT_IN_ROLES, EVERY_SCOPE, grants, type RoleTable } from "../../protocol/identity/scopes.ts";
import type { CreateKeyRequest, KeyInfo } from "../../protocol/runs/api.ts";
import type { Client } from "../client/client.ts";
import { split } from "../files/arguments.ts";
import { fromNow } from "../output/amount.ts";
import { printable } from "../output/printable.ts";
import type { Call, FlagValues } from "../program/command.ts";
import type { KEY_CREATE_FLAGS } from "./commands.ts";
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

/** The scopes that were asked for and that no role of the principal grants: a request needs its scope in both. */
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
  if (principal === undefined) return refuse("--principal is missing; it says who the key is for");
  const expiresAt = expiryOf(flags, nowMs);
  return {
    principal,
    ...(kind === undefined ? {} : { kind: kind as PrincipalKind }),
    ...(workspace === undefined ? {} : { workspace }),
    ...(roles.length === 0 ? {} : { roles: split(roles) }),
    ...(group.length === 0 ? {} : { groups: split(group) }),
    ...(scopes.length === 0 ? {} : { scopes: split(scopes) }),
    ...(label === undefined ? {} : { label }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

function expiryOf({ expiresIn, expiresAt }: FlagValues<typeof KEY_CREATE_FLAGS>, nowMs: number): string | undefined {
  if (expiresIn === undefined) return expiresAt;
  if (expiresAt !== undefined) return refuse("use either --expires-in or --expires-at");
  return fromNow(expiresIn, nowMs) ?? refuse(`--expires-in ${expiresIn} must look like 45m, 12h or 30d`);
}

function describe({ keyId, tenant, principal, roles, expiresAt }: KeyInfo): string {
  const as = roles.length === 0 ? "without a role" : `as ${roles.join(", ")}`;
  const until = expiresAt === undefined ? "" : `, until ${expiresAt}`;
  return printable(`${keyId}: for ${principal} of tenant ${tenant} ${as}${until}. The key is not shown again.`);
}

function refuse(problem: string): never {
  throw new AppError("unusable_input", { problem });
}
