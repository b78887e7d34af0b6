import { defined } from "../defined.ts";
import { closed, ShortName, type Static, Type } from "../schema.ts";

/** The owner of a run: opaque ids taken from the credential, and never personal data, because `owner` is not redacted. */
export const Owner = Type.Object(
  {
    tenant: ShortName,
    workspace: Type.Optional(ShortName),
    principal: Type.Optional(ShortName),
  },
  closed,
);
export type Owner = Static<typeof Owner>;

/** `code` is a check that runs by itself: neither a person nor a model. */
export const PRINCIPAL_KINDS = ["user", "agent", "code"] as const;
export type PrincipalKind = (typeof PRINCIPAL_KINDS)[number];

/**
 * The authenticated caller of a request. `workspace` is set when the key is bound to one: then only that
 * workspace's rows are visible.
 */
export interface Caller extends Visibility {
  readonly principal: string;
  readonly kind: PrincipalKind;
  readonly keyId: string;
  readonly roles: readonly string[];
  /** Groups of the principal; approver references resolve to them. */
  readonly groups: readonly string[];
  /** The most that the key allows; a role of the principal must grant the scope as well. */
  readonly keyScopes: readonly string[];
}

/** The key id of the operator at the command line of the database itself. No stored key has it. */
export const OPERATOR_KEY_ID = "command-line";

/** The rows a caller may see: all of its tenant, or one workspace of it. */
export interface Visibility {
  readonly tenant: string;
  readonly workspace?: string;
  /** Makes room for a large run before it is read, or refuses; absent where the reader is bounded in another way. */
  readonly beforeLargeRead?: (bytes: number) => Promise<void>;
}

/** The rows at the place of an owner, a record or a caller. */
export function visibilityOf({ tenant, workspace }: Visibility): Visibility {
  return defined({ tenant, workspace });
}
