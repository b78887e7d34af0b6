import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { ensureBuilt } from "../bin/build.js";
import { openPostgresStore } from "../src/store/postgres/postgres-store.ts";
import { administer, MIGRATED } from "../src/testing/administer.ts";
import { startPostgres } from "./start-postgres.js";

/**
 * Worker threads and the end-to-end tests run from `dist`; the tests of the store need a real PostgreSQL. A failed
 * build fails the run but does not stop it, because most tests run from source and may tell more than the compiler.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  if (!ensureBuilt()) process.exitCode = 1;
  const postgres = await startPostgres({ sync: false });
  await makeTemplate(postgres.url);
  project.provide("postgresUrl", postgres.url);
  const folder = mkdtempSync(join(tmpdir(), "assay-test-"));
  project.provide("testFolder", folder);
  return async () => {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
}

/** Migrates one database, which those of the tests are copies of: a copy takes a fifth of the time. */
async function makeTemplate(server: string): Promise<void> {
  await administer(server, `create database ${MIGRATED} template template0`);
  const url = new URL(server);
  url.pathname = `/${MIGRATED}`;
  const store = await openPostgresStore({ url: url.href });
  await store.close();
}
