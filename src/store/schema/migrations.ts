import { type Kysely, type Migration, type MigrationProvider, Migrator, sql } from "kysely";
import { AppError } from "../../protocol/errors.ts";
import { dialectOf } from "./dialect.ts";
import { runs } from "./migrations/0001-runs.ts";
import { gates } from "./migrations/0002-gates.ts";
import { judgments } from "./migrations/0003-judgments.ts";
import { tapes } from "./migrations/0004-tapes.ts";
import { reviews } from "./migrations/0005-reviews.ts";
import { documents } from "./migrations/0006-documents.ts";
import { runCounts } from "./migrations/0011-run-counts.ts";
import { importedTallies } from "./migrations/0012-imported-tallies.ts";
import { runsByWorkspace } from "./migrations/0013-runs-by-workspace.ts";

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
  "0013-runs-by-workspace": runsByWorkspace,
};

export const migrationProvider: MigrationProvider = {
  getMigrations: async () => ({ ...MIGRATIONS }),
};

/** The schema version a migration leads to. */
export function versionOf(migrationName: string): number {
  return Number.parseInt(migrationName, 10);
}

export const KNOWN_VERSION = Math.max(...Object.keys(MIGRATIONS).map(versionOf));

export interface SchemaState {
  /** The version of the database; 0 when it is empty. */
  readonly found: number;
  /** The newest version this build knows. */
  readonly known: number;
}

/**
 * Brings the database to the newest version this build knows. Each migration happens whole or not at all, and
 * processes that start together wait for one another. Throws `schema_too_new` and changes nothing when a newer
 * build was here before.
 */
export async function migrate<T>(db: Kysely<T>): Promise<void> {
  const state = await requireKnownSchema(db);
  if (state.found === state.known) return;
  const { error } = await new Migrator({ db, provider: migrationProvider }).migrateToLatest();
  if (error !== undefined) throw error;
}

/** For a process that must not migrate: throws unless the database is at exactly the version of this build. */
export async function requireCurrentSchema<T>(db: Kysely<T>): Promise<void> {
  const state = await requireKnownSchema(db);
  if (state.found < state.known) throw new AppError("schema_outdated", { ...state });
}

export async function schemaState<T>(db: Kysely<T>): Promise<SchemaState> {
  if (!(await hasMigrationTable(db))) return { found: 0, known: KNOWN_VERSION };
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  return { found: Math.max(0, ...rows.map((row) => versionOf(row.name))), known: KNOWN_VERSION };
}

async function requireKnownSchema<T>(db: Kysely<T>): Promise<SchemaState> {
  const state = await schemaState(db);
  if (state.found > state.known) throw new AppError("schema_too_new", { ...state });
  return state;
}

async function hasMigrationTable<T>(db: Kysely<T>): Promise<boolean> {
  const found =
    dialectOf(db) === "postgres"
      ? await sql`select 1 where to_regclass('kysely_migration') is not null`.execute(db)
      : await sql`select 1 from sqlite_master where type = 'table' and name = 'kysely_migration'`.execute(db);
  return found.rows.length > 0;
}
