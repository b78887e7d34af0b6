import { AppError } from "../../protocol/errors.ts";
import { type Caller, OPERATOR_KEY_ID } from "../../protocol/identity/identity.ts";
import { type Client, connect, connectHere } from "../client/client.ts";
import type { Call } from "../program/command.ts";
import { openStore, requireExisting } from "../server/database.ts";

/** The tenant of the owner key that a first start makes. */
const FIRST_TENANT = "default";

/**
 * Opens what the call names: a server, or the database when `--data` or `--database-url` is a flag of the call. Settings
 * from elsewhere do not count, since a file that both server and client read has them for the server.
 */
export async function withIdentity<T>(
  { config, given, flags }: Call & { readonly flags: { readonly tenant: string | undefined } },
  use: (identity: Client["identity"]) => Promise<T>,
): Promise<T> {
  const direct = given.has("data") || given.has("databaseUrl");
  if (direct && (given.has("url") || given.has("key"))) {
    refuse("use either --url and --key, or --data or --database-url, not both");
  }
  if (direct) return withDatabase(config, flags.tenant ?? FIRST_TENANT, use);
  if (flags.tenant !== undefined)
    refuse("--tenant goes with --data or --database-url; a server takes it from your key");
  return use(connect(config).identity);
}

async function withDatabase<T>(
  config: Call["config"],
  tenant: string,
  use: (identity: Client["identity"]) => Promise<T>,
): Promise<T> {
  requireExisting(config);
  const { inProcessFetch } = await import("../../http/in-process.ts");
  const { IDENTITY_ROOMS } = await import("../../http/in-process-rooms.ts");
  const { idSource } = await import("../../engine/host.ts");
  const { processScrubber } = await import("../wiring/process-scrubber.ts");
  const scrubber = await processScrubber(config);
  const store = await openStore(config);
  const host = { store, scrubber, nowMs: Date.now, newId: idSource(Date.now) };
  try {
    const fetch = inProcessFetch({ host, caller: operator(tenant), rooms: IDENTITY_ROOMS });
    return await use(connectHere(fetch).identity);
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
