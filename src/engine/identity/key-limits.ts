import { AppError, validationError } from "../../protocol/errors.ts";
import { type Caller, OPERATOR_KEY_ID } from "../../protocol/identity/identity.ts";
import type { Membership } from "../../store/port/gates.ts";
import type { RoleBinding, Store } from "../../store/port/store.ts";

export interface KeyLimits {
  /** Keys of a tenant that are neither revoked nor expired. */
  readonly maxKeys?: number;
}

const MAX_KEYS = 10_000;

/** Bytes, as JSON, of the roles and groups of a principal in one place, and in all places together. */
export const NAMES_MAX = { here: 8_192, everywhere: 65_536 } as const;

interface LimitedHost {
  readonly store: Store;
  readonly nowMs: () => number;
  readonly limits?: KeyLimits;
}

/**
 * Throws where the tenant has as many valid keys as it may. New keys of a tenant are made one after the other in this process; several hosts on
 * one database can exceed the limit by one key each. The operator on the database has no limit, because a full tenant could not get a new owner's
 * key otherwise.
 */
export async function requireRoomForKey({ store, nowMs, limits }: LimitedHost, caller: Caller): Promise<void> {
  if (caller.keyId === OPERATOR_KEY_ID) return;
  const limit = limits?.maxKeys ?? MAX_KEYS;
  if ((await store.countWorkingKeys(caller.tenant, nowMs())) >= limit)
    throw new AppError("tenant_key_limit", { limit });
}

/**
 * Throws where a change makes the roles and groups of a principal too long, in its place or in all places together: each key of the principal is
 * read and listed with them. A change that does not make them longer is allowed.
 */
export async function requireShortNames(store: Pick<Store, "bindingsOf">, change: RoleBinding): Promise<void> {
  const all = await store.bindingsOf(change.tenant, [change.principal]);
  const before = all.find(({ workspace }) => workspace === change.workspace) ?? { roles: [], groups: [] };
  const { roles = before.roles, groups = before.groups } = change;
  const here = bytesOf({ roles, groups });
  if (here <= bytesOf(before)) return;
  if (here > NAMES_MAX.here) refuse(NAMES_MAX.here, "in one workspace");
  const elsewhere = all.filter((each) => each !== before).reduce((sum, each) => sum + bytesOf(each), 0);
  if (here + elsewhere > NAMES_MAX.everywhere) refuse(NAMES_MAX.everywhere, "in all workspaces together");
}

function bytesOf({ roles, groups }: Membership): number {
  return Buffer.byteLength(JSON.stringify([roles, groups]));
}

function refuse(limit: number, where: string): never {
  const problem = `the roles and groups of a principal take at most ${limit} bytes ${where}, as JSON; use fewer or shorter names`;
  throw validationError(problem, { limit });
}
