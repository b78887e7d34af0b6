import type { PrincipalKind, Visibility } from "../protocol/identity.ts";
import type { Membership } from "./gates.ts";

export interface Keys {
  /** By SHA-256 of the key, with the roles its principal has in its workspace or tenant-wide. Revoked keys too. */
  findKey(hash: string): Promise<KeyRecord | undefined>;
  /** Oldest first; with a principal, only its keys. */
  listKeys(visible: Visibility, principal?: string): Promise<KeyRecord[]>;
  /** The one of these keys that has this id. */
  readKey(visible: Visibility, keyId: string): Promise<KeyRecord | undefined>;
  /** Roles a workspace defines beside the built-in ones. */
  customRoles(tenant: string, workspace: string | undefined): Promise<Record<string, readonly string[]>>;
  /** Roles that are defined in exactly this workspace, or tenant-wide when there is none. */
  ownRoles(tenant: string, workspace: string | undefined): Promise<Record<string, readonly string[]>>;
  hasKeys(): Promise<boolean>;
  /** Read anew each time: eligibility is decided by what holds now. Empty for somebody unknown. */
  membershipOf(visible: Visibility, principal: string): Promise<Membership>;
  /** What a principal is in the tenant and in any workspace of it, all together. */
  membershipAnywhere(tenant: string, principal: string): Promise<Membership>;
}

export interface KeyRecord {
  readonly keyId: string;
  readonly hash: string;
  readonly tenant: string;
  readonly workspace?: string;
  readonly principal: string;
  readonly kind: PrincipalKind;
  readonly scopes: readonly string[];
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  readonly label?: string;
  readonly createdAtMs: number;
  readonly expiresAtMs?: number;
  readonly revokedAtMs?: number;
  readonly lastUsedAtMs?: number;
}

export type KeyWrite =
  /** Replaces a key with the same hash (`--keys` is upserted at each start) and lifts a revocation. */
  | { readonly type: "put"; readonly key: Omit<KeyRecord, "roles" | "groups" | "revokedAtMs" | "lastUsedAtMs"> }
  | { readonly type: "revoke"; readonly keyId: string; readonly atMs: number }
  | { readonly type: "used"; readonly keyId: string; readonly atMs: number };

/** Replaces what a principal is in a workspace, or tenant-wide when there is none. */
export interface RoleBinding {
  readonly tenant: string;
  readonly workspace?: string;
  readonly principal: string;
  /** Absent: the roles, or groups, stay as they are. */
  readonly roles?: readonly string[];
  readonly groups?: readonly string[];
}
