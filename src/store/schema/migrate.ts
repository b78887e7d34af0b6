import { type Kysely, Migrator, sql } from "kysely";
import { AppError } from "../../protocol/errors.ts";
import { dialectOf } from "./dialect-of.ts";
import { KNOWN_VERSION, migrationProvider, versionOf } from "./migrations.ts";

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
