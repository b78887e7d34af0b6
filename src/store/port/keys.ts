import type { PrincipalKind, Visibility } from "../../protocol/identity/identity.ts";
import type { Membership } from "./gates.ts";

export interface Keys {
  /** By SHA-256 of the key, with the roles its principal has in its workspace or tenant-wide. Revoked keys too. */
  findKey(hash: string): Promise<KeyRecord | undefined>;
  /** Oldest first; with a page, at most `limit` of those after `after`. */
  listKeys(visible: Visibility, page?: KeyPage): Promise<KeyRecord[]>;
  /** The keys of these principals, those of each oldest first. */
  keysOf(visible: Visibility, principals: readonly string[]): Promise<KeyOutline[]>;
  /** The keys of the first `limit` principals after the name `after`: by name, then oldest first. */
  keysByPrincipal(visible: Visibility, after: string, limit: number): Promise<KeyOutline[]>;
  /** How many keys of a tenant work: neither revoked nor expired. */
  countWorkingKeys(tenant: string, nowMs: number): Promise<number>;
  /** Whether another principal is an owner of the whole tenant and has a key of the whole tenant that works. */
  hasOtherOwner(tenant: string, principal: string, nowMs: number): Promise<boolean>;
  /** The one of these keys that has this id. */
  readKey(visible: Visibility, keyId: string): Promise<KeyRecord | undefined>;
  /** Roles a workspace defines in addition to the built-in ones. */
  customRoles(tenant: string, workspace: string | undefined): Promise<Record<string, readonly string[]>>;
  /** Roles that are defined in exactly this workspace, or tenant-wide when there is none. */
  ownRoles(tenant: string, workspace: string | undefined): Promise<Record<string, readonly string[]>>;
  hasKeys(): Promise<boolean>;
  /** Read anew each time: eligibility is decided by the current bindings. Empty for an unknown principal. */
  membershipOf(visible: Visibility, principal: string): Promise<Membership>;
  /** The roles and groups of a principal in the tenant and in all workspaces of it together. */
  membershipAnywhere(tenant: string, principal: string): Promise<Membership>;
  /** The role bindings of principals; `workspace` is absent in a tenant-wide binding. */
  bindingsOf(tenant: string, principals: readonly string[]): Promise<StoredBinding[]>;
}

export interface KeyPage {
  readonly after?: Pick<KeyRecord, "keyId" | "createdAtMs">;
  readonly limit: number;
}

/** The small part of a key: lists and look-ups of principals need no more, and roles and groups may be long. */
export type KeyOutline = Pick<
  KeyRecord,
  "keyId" | "principal" | "kind" | "workspace" | "createdAtMs" | "expiresAtMs" | "revokedAtMs"
>;

export type StoredBinding = Required<Omit<RoleBinding, "tenant" | "workspace">> & Pick<RoleBinding, "workspace">;

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

/** Replaces the roles and groups of a principal in a workspace, or tenant-wide when there is none. */
export interface RoleBinding {
  readonly tenant: string;
  readonly workspace?: string;
  readonly principal: string;
  /** Absent: the roles, or groups, stay as they are. */
  readonly roles?: readonly string[];
  readonly groups?: readonly string[];
}
