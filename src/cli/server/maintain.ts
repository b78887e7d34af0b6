import { existsSync, statSync } from "node:fs";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import { type BackupTrailer, backupLines } from "../../store/backup/backup.ts";
import { restoreBackup } from "../../store/backup/restore.ts";
import { migrate as migrateSchema, requireCurrentSchema, schemaState } from "../../store/schema/migrations.ts";
import { readWhole } from "../files/read-file.ts";
import { refuseExisting, writeWhole } from "../files/write-file.ts";
import { formatBytes, formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { BACKUP_FLAGS, MIGRATE_FLAGS } from "./commands.ts";
import { describeDatabase, evalsPath, requireFolder, withDatabase, withSnapshot } from "./database.ts";

/** `--check` may read while a server runs; a migration of a file needs it alone. */
export async function migrate({ flags, json, config, io }: Call<typeof MIGRATE_FLAGS>): Promise<number> {
  requireFolder(config);
  const open = flags.check ? withSnapshot : withDatabase;
  const { found, known } = await open(config, async (db) => {
    const state = await schemaState(db);
    if (state.found > state.known) throw new AppError("schema_too_new", { ...state });
    if (!flags.check) await migrateSchema(db);
    return state;
  });
  const isCurrent = found === known;
  const database = describeDatabase(config);
  if (json) io.out(JSON.stringify({ database, from: found, to: known, migrated: !flags.check && !isCurrent }));
  else if (isCurrent) io.out(`${database} is at schema version ${known}; there is nothing to do.`);
  else if (flags.check) io.out(`${database} is at schema version ${found}; this version needs ${known}.`);
  else io.out(`${database} went from schema version ${found} to ${known}.`);
  return flags.check && !isCurrent ? EXIT.negative : EXIT.fine;
}

export async function backup({ args, flags, json, config, io }: Call<typeof BACKUP_FLAGS>): Promise<undefined> {
  const [file = ""] = args;
  refuseExisting(file, flags.force);
  let trailer: BackupTrailer = { rows: {}, sha256: "" };
  await withSnapshot(config, async (db) => {
    await requireCurrentSchema(db);
    const lines = async function* () {
      trailer = yield* counted(backupLines(db, new Date().toISOString()), io);
    };
    await writeWhole(file, lines(), { ownerOnly: true });
  });
  const sizeBytes = statSync(file).size;
  if (config.databaseUrl === undefined && existsSync(evalsPath(config))) {
    io.err(
      `assay: ${evalsPath(config)}, the evaluations of this machine, is not in the backup; copy it while none runs.`,
    );
  }
  if (json) return void io.out(JSON.stringify({ file, sizeBytes, ...trailer }));
  io.out(`${file}: ${formatCount(rowsIn(trailer), "row")} of ${describeDatabase(config)}, ${formatBytes(sizeBytes)}`);
  if (io.outIsTerminal) {
    io.err(`It contains the host's secrets. Restore it with: assay restore ${file} --data NEW_FOLDER`);
  }
  return undefined;
}

function rowsIn({ rows }: BackupTrailer): number {
  return Object.values(rows).reduce((sum, count) => sum + count, 0);
}

const SHOW_EVERY = 10_000;

/** Passes on lines and shows their number. */
async function* counted<R>(lines: AsyncGenerator<string, R>, io: Io): AsyncGenerator<string, R> {
  for (let n = 1; ; n++) {
    const next = await lines.next();
    if (next.done) return next.value;
    yield next.value;
    if (n % SHOW_EVERY === 0) io.progress(`${formatCount(n, "row")} …`);
  }
}

export async function restore({ args: [file = ""], json, config, io }: Call): Promise<undefined> {
  const content = readWhole(file);
  // Read before the database is created: a mistyped name must not leave an empty database behind.
  const first = await content.next();
  const trailer = await withDatabase(config, async (db) => {
    await migrateSchema(db);
    return restoreBackup(db, from(first, content)).catch((error: unknown) => {
      throw naming(file, error);
    });
  });
  const database = describeDatabase(config);
  if (json) io.out(JSON.stringify({ file, database, ...trailer }));
  else io.out(`${database}: ${formatCount(rowsIn(trailer), "row")} restored from ${file}`);
  if (!json && io.outIsTerminal) io.err("Check it with `assay audit verify` once a server runs on it.");
}

async function* from<T>(first: IteratorResult<T, void>, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  if (!first.done) yield first.value;
  yield* rest;
}

/** Adds the file's name to errors about its content. */
function naming(file: string, error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== "unusable_input") return error;
  const problem = String(error.details["problem"]);
  if (problem.startsWith(file)) return error;
  return unusableInput(`${file}: ${problem}`, error);
}
