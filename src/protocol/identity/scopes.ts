import type { Caller } from "./identity.ts";

/** Every scope a key or role may carry. The second group is Assay's own. */
export const SCOPES = [
  "manifest:read",
  "runs:create",
  "runs:read",
  "runs:cancel",
  "runs:annotate",
  "artifacts:read",
  "webhooks:manage",
  "approvals:respond",
  "audit:read",
  "workspace:read",
  "workspace:write",
  "deploy:promote",
  "deploy:rollback",
  "deploy:pause",
  "deploy:policy",
  "approvals:relay",
  "workflows:write",
  "keys:manage",
  "metrics:read",
  "runs:delete",
  "queues:manage",
  "judgments:import",
  "reviews:request",
  "reviews:read",
  "reviews:delete",
  "suites:write",
  "agents:install",
] as const;

export type Scope = (typeof SCOPES)[number];

export const EVERY_SCOPE = "*";

/**
 * Scopes that `*` does not contain, in keys and in roles: they are given by name. A relay votes in the name of others; to
 * be an owner is not enough for that.
 */
export const SCOPES_BY_NAME: ReadonlySet<string> = new Set<Scope>(["approvals:relay"]);

/** Built-in roles; each contains the ones after it. A workspace may define further ones. */
export const BUILT_IN_ROLES: Readonly<Record<string, readonly string[]>> = {
  owner: [EVERY_SCOPE],
  admin: [EVERY_SCOPE],
  reviewer: [
    "runs:read",
    "runs:annotate",
    "approvals:respond",
    "manifest:read",
    "artifacts:read",
    "reviews:request",
    "reviews:read",
  ],
  viewer: ["runs:read", "manifest:read", "reviews:read"],
};

const ORDER = ["owner", "admin", "reviewer", "viewer"];

/** Whether holding `held` satisfies a demand for `required`: the same role, or a built-in one that contains it. */
export function roleContains(held: string, required: string): boolean {
  if (held === required) return true;
  const from = ORDER.indexOf(held);
  const to = ORDER.indexOf(required);
  return from >= 0 && to >= 0 && from < to;
}

export function grants(scopes: readonly string[], scope: string): boolean {
  return scopes.includes(scope) || (scopes.includes(EVERY_SCOPE) && !SCOPES_BY_NAME.has(scope));
}

export type RoleTable = Readonly<Record<string, readonly string[]>>;

export type Decision =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly missingFrom: "the key" | "the role" };

/** A request needs its scope in the key's ceiling and in one of the principal's roles. Unknown roles grant nothing. */
export function decideScope(
  caller: Pick<Caller, "keyScopes" | "roles">,
  scope: string,
  roles: RoleTable = BUILT_IN_ROLES,
): Decision {
  if (!grants(caller.keyScopes, scope)) return { allowed: false, missingFrom: "the key" };
  const held = caller.roles.some((role) => Object.hasOwn(roles, role) && grants(roles[role] ?? [], scope));
  return held ? { allowed: true } : { allowed: false, missingFrom: "the role" };
}

/**
 * Names that the host itself writes as an actor, into audit entries, votes and logs. A principal of such a name would be taken for the
 * host: no key is made for one, and no vote is relayed for one. Keys that were made before keep working.
 */
const RESERVED: ReadonlySet<string> = new Set([
  "assay",
  "host",
  "operator",
  "replay",
  "system",
  "timeout",
  "token",
  "unknown",
]);

const RESERVED_PREFIX = "assay:";

/** In any spelling that looks the same to a reader. */
export function isReservedName(name: string): boolean {
  const plain = name.normalize("NFKC").replace(INVISIBLE, "").trim().toLowerCase();
  return RESERVED.has(plain) || plain.startsWith(RESERVED_PREFIX);
}

const INVISIBLE = /\p{Cf}/gu;

export function reservedProblem(name: string): string | undefined {
  if (!isReservedName(name)) return undefined;
  return `"${name}" is a name that the host writes itself, in the audit log for one; choose another`;
}
