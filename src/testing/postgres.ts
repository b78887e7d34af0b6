import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** The superuser's connection to the PostgreSQL that `test/global-setup.ts` started. */
    postgresUrl: string;
  }
}

export interface TestDatabase {
  readonly url: string;
  /** Removes the database, ending whatever connections are still open. */
  drop(): Promise<void>;
}

/** Makes an empty database with a random name in the PostgreSQL of this test run. */
export async function createDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  // template0, because nobody can be connected to it; a connection to template1 would refuse the copy.
  await administer(`create database ${name} template template0`);

  const url = new URL(inject("postgresUrl"));
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => administer(`drop database if exists ${name} with (force)`) };
}

async function administer(statement: string): Promise<void> {
  const client = new Client({ connectionString: inject("postgresUrl") });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
