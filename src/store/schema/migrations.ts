import type { Migration, MigrationProvider } from "kysely";
import { runs } from "./migrations/0001-runs.ts";
import { gates } from "./migrations/0002-gates.ts";
import { judgments } from "./migrations/0003-judgments.ts";
import { tapes } from "./migrations/0004-tapes.ts";
import { reviews } from "./migrations/0005-reviews.ts";
import { documents } from "./migrations/0006-documents.ts";
import { runCounts } from "./migrations/0011-run-counts.ts";
import { importedTallies } from "./migrations/0012-imported-tallies.ts";

/**
 * Every change of the schema, oldest first. A released migration is never edited: databases that ran it would stay
 * as they are. Names are stored in the database; the number in front is the schema version.
 */
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  "0001-runs": runs,
  "0002-gates": gates,
  "0003-judgments": judgments,
  "0004-tapes": tapes,
  "0005-reviews": reviews,
  "0006-documents": documents,
  "0011-run-counts": runCounts,
  "0012-imported-tallies": importedTallies,
};

export const migrationProvider: MigrationProvider = {
  getMigrations: async () => ({ ...MIGRATIONS }),
};

/** The schema version a migration leads to. */
export function versionOf(migrationName: string): number {
  return Number.parseInt(migrationName, 10);
}

export const KNOWN_VERSION = Math.max(...Object.keys(MIGRATIONS).map(versionOf));
