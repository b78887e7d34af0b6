import type { TestProject } from "vitest/node";
import { ensureBuilt } from "../bin/build.js";
import { startPostgres } from "./start-postgres.js";

/**
 * Worker threads and the end-to-end tests run from `dist`; the tests of the store need a real PostgreSQL. A failed
 * build fails the run but does not stop it, because most tests run from source and may tell more than the compiler.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  if (!ensureBuilt()) process.exitCode = 1;
  const postgres = await startPostgres();
  project.provide("postgresUrl", postgres.url);
  return postgres.stop;
}
