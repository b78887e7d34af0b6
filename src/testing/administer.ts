import { Client } from "pg";

/** The database with all tables and no rows, in the PostgreSQL of a test run. */
export const MIGRATED = "assay_migrated";

/** Runs one statement of an administrator. */
export async function administer(server: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
