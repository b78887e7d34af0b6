import type { CreateKeyRequest, CreateKeyResponse, KeyInfo } from "../protocol/api.ts";
import { AppError } from "../protocol/errors.ts";
import type { Caller } from "../protocol/identity.ts";
import { connect } from "./client.ts";
import type { Call } from "./command.ts";
import { openStore, requireExisting } from "./database.ts";

/** Managing keys, whether through a server or in the database itself. */
export interface Keys {
  create(request: CreateKeyRequest): Promise<CreateKeyResponse>;
  list(): Promise<{ keys: readonly KeyInfo[] }>;
  revoke(keyId: string): Promise<KeyInfo>;
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
  const client = connect(config);
  const path = "/v1/host/assay/keys";
  return use({
    create: (body) => client.json(path, { method: "POST", body }),
    list: () => client.json(path),
    revoke: (keyId) => client.json(`${path}/${encodeURIComponent(keyId)}:revoke`, { method: "POST", body: {} }),
  });
}

async function withStoredKeys<T>(config: Call["config"], tenant: string, use: (keys: Keys) => Promise<T>): Promise<T> {
  requireExisting(config);
  const { createKey, listKeys, revokeKey } = await import("../engine/keys.ts");
  const { idSource } = await import("../engine/host.ts");
  const store = await openStore(config);
  const host = { store, nowMs: Date.now, newId: idSource(Date.now) };
  try {
    return await use({
      create: (request) => createKey(host, operator(tenant), request),
      list: () => listKeys(host, operator(tenant)),
      revoke: (keyId) => revokeKey(host, { caller: operator(tenant), keyId, record: () => undefined }),
    });
  } finally {
    await store.close();
  }
}

/** Whoever can open the database may do everything; the audit log says that it was done this way. */
function operator(tenant: string): Caller {
  return { tenant, principal: "operator", kind: "user", keyId: "command-line", roles: ["owner"], keyScopes: ["*"] };
}

function refuse(problem: string): never {
  throw new AppError("unusable_input", { problem });
}
