import type { Store } from "../port/store.ts";
import { sharedStore } from "../read/shared-store.ts";
import { requireCurrentSchema } from "../schema/migrations.ts";
import { OF_HOST } from "../units/group-commit.ts";
import { explain } from "./database-error.ts";
import { hotReads } from "./hot-reads.ts";
import { kyselyForTenants, kyselyThrough } from "./kysely-dialect.ts";
import { openForReading } from "./open-database.ts";

/**
 * A store over a file that another process may own: it sees every commit, and each write is refused. Throws `schema_outdated` for a
 * file of another version, because nothing may be migrated here.
 */
export async function openReadOnlyStore(path: string): Promise<Store> {
  const reader = await openForReading(path);
  const handles = kyselyForTenants(reader);
  try {
    await requireCurrentSchema(handles(OF_HOST));
  } catch (error) {
    reader.close();
    throw explain(error);
  }
  const refuse = async (): Promise<never> => {
    throw new Error(`${path} is open for reading only`);
  };
  return {
    ...sharedStore(handles, () => kyselyThrough(refuse)),
    ...hotReads(reader),
    commit: refuse,
    claimRuns: refuse,
    renewLeases: refuse,
    finishAttempt: refuse,
    redeliver: refuse,
    onChange: () => () => undefined,
    ping: async () => undefined,
    close: async () => reader.close(),
  };
}
