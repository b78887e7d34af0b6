import { AppError } from "../../protocol/errors.ts";
import { type Caller, OPERATOR_KEY_ID } from "../../protocol/identity/identity.ts";
import type {
  ConfirmPrincipalResponse,
  DefineRoleRequest,
  ListPrincipalsResponse,
  ListRolesResponse,
  PrincipalInfo,
  RoleInfo,
  SetPrincipalRequest,
} from "../../protocol/identity/role-api.ts";
import type { CreateKeyRequest, CreateKeyResponse, KeyInfo } from "../../protocol/runs/api.ts";
import { connect } from "../client/client.ts";
import type { Call } from "../program/command.ts";
import { openStore, requireExisting } from "../server/database.ts";

/** Managing keys and what their principals are, whether through a server or in the database itself. */
export interface Keys {
  create(request: CreateKeyRequest): Promise<CreateKeyResponse>;
  list(): Promise<{ keys: readonly KeyInfo[] }>;
  revoke(keyId: string): Promise<KeyInfo>;
  roles(workspace: string | undefined): Promise<ListRolesResponse>;
  defineRole(request: DefineRoleRequest): Promise<RoleInfo>;
  removeRole(role: string, workspace: string | undefined): Promise<void>;
  principals(workspace: string | undefined): Promise<ListPrincipalsResponse>;
  setPrincipal(principal: string, request: SetPrincipalRequest): Promise<PrincipalInfo>;
  confirmPrincipal(principal: string): Promise<ConfirmPrincipalResponse>;
}

/** The tenant of the owner key that a first start makes. */
const FIRST_TENANT = "default";

/**
 * Opens what the call names: a server, or the database when `--data` or `--database-url` is a flag of the call. Settings
 * from elsewhere do not count, since a file that both server and client read has them for the server.
 */
export async function withKeys<T>(
  { config, given, flags }: Call & { readonly flags: { readonly tenant: string | undefined } },
  use: (keys: Keys) => Promise<T>,
): Promise<T> {
  const direct = given.has("data") || given.has("databaseUrl");
  if (direct && (given.has("url") || given.has("key"))) {
    refuse("use either --url and --key, or --data or --database-url, not both");
  }
  if (direct) return withStoredKeys(config, flags.tenant ?? FIRST_TENANT, use);
  if (flags.tenant !== undefined)
    refuse("--tenant goes with --data or --database-url; a server takes it from your key");
  const { identity } = connect(config);
  return use({
    create: async (request) => identity.createKey(request),
    list: async () => identity.keys(),
    revoke: async (keyId) => identity.revokeKey(keyId),
    roles: async (workspace) => identity.roles({ workspace }),
    defineRole: async (request) => identity.defineRole(request),
    removeRole: async (role, workspace) => identity.removeRole(role, { workspace }),
    principals: async (workspace) => identity.principals({ workspace }),
    setPrincipal: async (principal, request) => identity.setPrincipal(principal, request),
    confirmPrincipal: async (principal) => identity.confirmPrincipal(principal),
  });
}

async function withStoredKeys<T>(config: Call["config"], tenant: string, use: (keys: Keys) => Promise<T>): Promise<T> {
  requireExisting(config);
  const { createKey, listKeys, revokeKey } = await import("../../engine/identity/keys.ts");
  const { defineRole, listRoles, removeRole } = await import("../../engine/identity/define-role.ts");
  const { listPrincipals, setPrincipal } = await import("../../engine/identity/principals.ts");
  const { confirmPrincipal } = await import("../../engine/identity/confirm-principal.ts");
  const { idSource } = await import("../../engine/host.ts");
  const { processScrubber } = await import("../wiring/process-scrubber.ts");
  const scrubber = await processScrubber(config);
  const store = await openStore(config);
  const host = { store, scrubber, nowMs: Date.now, newId: idSource(Date.now) };
  const asked = { caller: operator(tenant), record: () => undefined };
  try {
    return await use({
      create: (request) => createKey(host, operator(tenant), request),
      list: () => listKeys(host, operator(tenant)),
      revoke: (keyId) => revokeKey(host, { ...asked, keyId }),
      roles: (workspace) => listRoles(host, asked.caller, workspace),
      defineRole: (request) => defineRole(host, { ...asked, request }),
      removeRole: (role, workspace) => removeRole(host, asked.caller, role, workspace),
      principals: (workspace) => listPrincipals(host, asked.caller, workspace),
      setPrincipal: (principal, request) => setPrincipal(host, { ...asked, principal, request }),
      confirmPrincipal: (principal) => confirmPrincipal(host, { ...asked, principal }),
    });
  } finally {
    await store.close();
  }
}

/** Whoever can open the database may do everything; the audit log says that it was done this way. */
function operator(tenant: string): Caller {
  const who = { principal: "operator", kind: "user", keyId: OPERATOR_KEY_ID } as const;
  return { tenant, ...who, roles: ["owner"], groups: [], keyScopes: ["*"] };
}

function refuse(problem: string): never {
  throw new AppError("unusable_input", { problem });
}
