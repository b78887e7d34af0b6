import type { CreateKeyRequest, KeyInfo } from "../../protocol/api.ts";
import { AppError } from "../../protocol/errors.ts";
import type { PrincipalKind } from "../../protocol/identity.ts";
import type { Call, FlagValues } from "../command.ts";
import { withKeys } from "../keys-of.ts";
import { split } from "../name-list.ts";
import { printable } from "../printable.ts";
import type { KEY_CREATE_FLAGS } from "../specs/key.ts";
import { fromNow } from "../when.ts";

export async function keyCreate(call: Call<typeof KEY_CREATE_FLAGS>): Promise<undefined> {
  const { json, io } = call;
  const request = requestOf(call, Date.now());
  const created = await withKeys(call, (keys) => keys.create(request));
  // The key alone, so that a script can take it: ASSAY_KEY=$(assay key create …).
  io.out(json ? JSON.stringify(created) : created.key);
  if (!json) io.err(describe(created.info));
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
