import { unusableInput } from "../../protocol/errors.ts";
import { type Client, connect, connectHere } from "../client/client.ts";
import type { Call } from "../program/command.ts";
import { openStore, requireExisting } from "../server/database.ts";

/** The tenant of the owner key that a first start makes. */
const FIRST_TENANT = "default";

/**
 * The client of a server or, when `--data` or `--database-url` is a flag of the call, of a host in this process. These settings do not
 * count in a file or in the environment, where they are meant for the server.
 */
export async function withIdentity<T>(
  { config, given, flags }: Call & { readonly flags: { readonly tenant: string | undefined } },
  use: (identity: Client["identity"]) => Promise<T>,
): Promise<T> {
  const direct = given.has("data") || given.has("databaseUrl");
  if (direct && (given.has("url") || given.has("key"))) {
    throw unusableInput("use either --url and --key, or --data or --database-url, not both");
  }
  if (direct) return withDatabase(config, flags.tenant ?? FIRST_TENANT, use);
  if (flags.tenant !== undefined) {
    throw unusableInput("--tenant goes with --data or --database-url; a server takes it from your key");
  }
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
  const { OPERATOR_KEY_ID } = await import("../../protocol/identity/identity.ts");
  const { processScrubber } = await import("../wiring/process-scrubber.ts");
  const scrubber = await processScrubber(config);
  const store = await openStore(config);
  const host = { store, scrubber, nowMs: Date.now, newId: idSource(Date.now) };
  try {
    // Access to the database is access to everything; the audit log names the operator's key.
    const operator = { principal: "operator", kind: "user", keyId: OPERATOR_KEY_ID } as const;
    const caller = { tenant, ...operator, roles: ["owner"], groups: [], keyScopes: ["*"] };
    const fetch = inProcessFetch({ host, caller, rooms: IDENTITY_ROOMS });
    return await use(connectHere(fetch).identity);
  } finally {
    await store.close();
  }
}
