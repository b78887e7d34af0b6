import { closed, Id, Instant, ShortName, type Static, Type } from "../schema.ts";
import { PRINCIPAL_KINDS } from "./identity.ts";

const Names = Type.Array(Id, { maxItems: 64 });
const OpaqueId = Type.String({ minLength: 1, maxLength: 256, pattern: "^[\\x21-\\x7e]+$" });

/** Groups of a principal. An empty list removes all of them. */
export const Groups = Type.Array(OpaqueId, { maxItems: 64 });

/** The workspace of a list or a removal; implied by a key that is bound to one. */
export const PlaceQuery = Type.Object({ workspace: Type.Optional(OpaqueId) }, closed);
export type PlaceQuery = Static<typeof PlaceQuery>;

/** The name can be written in a path. No scopes make a role that only gates ask for. */
export const DefineRoleRequest = Type.Object(
  {
    role: Type.String({ maxLength: 128, pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$" }),
    scopes: Names,
    workspace: Type.Optional(OpaqueId),
  },
  closed,
);
export type DefineRoleRequest = Static<typeof DefineRoleRequest>;

/** `workspace` where the role is one that the workspace defines itself. */
export const RoleInfo = Type.Object(
  {
    role: Type.String(),
    scopes: Type.Array(Type.String()),
    builtIn: Type.Boolean(),
    workspace: Type.Optional(Type.String()),
  },
  closed,
);
export type RoleInfo = Static<typeof RoleInfo>;

export const ListRolesResponse = Type.Object({ roles: Type.Array(RoleInfo) }, closed);
export type ListRolesResponse = Static<typeof ListRolesResponse>;

/** Each member replaces the current value; an absent one leaves it. */
export const SetPrincipalRequest = Type.Object(
  { roles: Type.Optional(Names), groups: Type.Optional(Groups), workspace: Type.Optional(OpaqueId) },
  closed,
);
export type SetPrincipalRequest = Static<typeof SetPrincipalRequest>;

/** `workspaces` are those that its keys are bound to. */
export const PrincipalInfo = Type.Object(
  {
    principal: Type.String(),
    kind: Type.Enum([...PRINCIPAL_KINDS]),
    workspaces: Type.Array(Type.String()),
    roles: Type.Array(Type.String()),
    groups: Type.Array(Type.String()),
    madeBy: Type.Optional(
      Type.Array(Type.String(), {
        description: "makers of its keys: at gates it does not count in addition to them until an owner confirms it",
      }),
    ),
  },
  closed,
);
export type PrincipalInfo = Static<typeof PrincipalInfo>;

/** `confirmedKeys` are those that counted as their makers' before; none where there was nothing to confirm. */
export const ConfirmPrincipalResponse = Type.Object(
  { principal: Type.String(), makers: Type.Array(Type.String()), confirmedKeys: Type.Array(Type.String()) },
  closed,
);
export type ConfirmPrincipalResponse = Static<typeof ConfirmPrincipalResponse>;

export const ListPrincipalsResponse = Type.Object({ principals: Type.Array(PrincipalInfo) }, closed);
export type ListPrincipalsResponse = Static<typeof ListPrincipalsResponse>;

const SomeNames = Type.Array(Id, { minItems: 1, maxItems: 64 });

export const CreateKeyRequest = Type.Object(
  {
    principal: OpaqueId,
    kind: Type.Optional(Type.Enum([...PRINCIPAL_KINDS])),
    workspace: Type.Optional(OpaqueId),
    roles: Type.Optional(SomeNames),
    groups: Type.Optional(Groups),
    scopes: Type.Optional(SomeNames),
    label: Type.Optional(ShortName),
    expiresAt: Type.Optional(Instant),
  },
  closed,
);
export type CreateKeyRequest = Static<typeof CreateKeyRequest>;

/** A key as it can be shown: never the key itself, never its hash. */
export const KeyInfo = Type.Object(
  {
    keyId: Type.String(),
    tenant: Type.String(),
    workspace: Type.Optional(Type.String()),
    principal: Type.String(),
    kind: Type.Enum([...PRINCIPAL_KINDS]),
    roles: Type.Array(Type.String()),
    groups: Type.Array(Type.String()),
    scopes: Type.Array(Type.String()),
    label: Type.Optional(Type.String()),
    createdAt: Type.String(),
    expiresAt: Type.Optional(Type.String()),
    revokedAt: Type.Optional(Type.String()),
    lastUsedAt: Type.Optional(Type.String()),
  },
  closed,
);
export type KeyInfo = Static<typeof KeyInfo>;

/** The only place where a key is ever shown. */
export const CreateKeyResponse = Type.Object({ key: Type.String(), info: KeyInfo }, closed);
export type CreateKeyResponse = Static<typeof CreateKeyResponse>;

export const ListKeysResponse = Type.Object({ keys: Type.Array(KeyInfo) }, closed);

export const WhoAmIResponse = Type.Object(
  {
    tenant: Type.String(),
    workspace: Type.Optional(Type.String()),
    principal: Type.String(),
    kind: Type.Enum([...PRINCIPAL_KINDS]),
    roles: Type.Array(Type.String()),
    groups: Type.Array(Type.String()),
    scopes: Type.Array(Type.String()),
  },
  closed,
);

/** One entry of a `--keys` file. */
export const KeyFileEntry = Type.Object(
  {
    key: Type.String({ minLength: 16, maxLength: 512, pattern: "^[\\x21-\\x7e]+$" }),
    tenant: OpaqueId,
    workspace: Type.Optional(OpaqueId),
    principal: OpaqueId,
    kind: Type.Optional(Type.Enum([...PRINCIPAL_KINDS])),
    roles: Type.Optional(Names),
    groups: Type.Optional(Groups),
    scopes: Type.Optional(Names),
    label: Type.Optional(ShortName),
    expiresAt: Type.Optional(Instant),
  },
  closed,
);
export type KeyFileEntry = Static<typeof KeyFileEntry>;
export const KeyFile = Type.Array(KeyFileEntry, { maxItems: 100_000 });
