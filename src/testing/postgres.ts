import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { administer, MIGRATED } from "./administer.ts";

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

/** Makes a database with a random name in the PostgreSQL of this test run, with the tables of this version. */
export async function createDatabase(): Promise<TestDatabase> {
  return copyOf(MIGRATED);
}

/** Makes one without any table. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  // template0, because nobody can be connected to it; a connection to template1 would refuse the copy.
  return copyOf("template0");
}

async function copyOf(template: string): Promise<TestDatabase> {
  const server = inject("postgresUrl");
  const name = `test_${randomBytes(6).toString("hex")}`;
  // The files are copied: without waiting for the disk that takes half the time of writing them through the log.
  await administer(server, `create database ${name} template ${template} strategy file_copy`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => administer(server, `drop database if exists ${name} with (force)`) };
}
