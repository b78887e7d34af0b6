import { existsSync, statSync } from "node:fs";
import { type BackupTrailer, backupLines } from "../../store/backup/backup.ts";
import { requireCurrentSchema } from "../../store/schema/migrate.ts";
import { refuseExisting, writeWhole } from "../files/write-file.ts";
import { formatBytes, formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import type { Call } from "../program/command.ts";
import { describeDatabase, evalsPath, withSnapshot } from "./database.ts";
import type { BACKUP_FLAGS } from "./database-commands.ts";

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
  if (json) {
    io.out(JSON.stringify({ file, sizeBytes, ...trailer }));
    return;
  }
  io.out(`${file}: ${formatCount(rowsIn(trailer), "row")} of ${describeDatabase(config)}, ${formatBytes(sizeBytes)}`);
  if (io.outIsTerminal) io.err(`It holds the host's secrets. Restore it with: assay restore ${file} --data NEW_FOLDER`);
}

export function rowsIn({ rows }: BackupTrailer): number {
  return Object.values(rows).reduce((sum, count) => sum + count, 0);
}

const SHOW_EVERY = 10_000;

/** Passes the lines on and shows how many there were. */
async function* counted<R>(lines: AsyncGenerator<string, R>, io: Io): AsyncGenerator<string, R> {
  for (let n = 1; ; n++) {
    const next = await lines.next();
    if (next.done) return next.value;
    yield next.value;
    if (n % SHOW_EVERY === 0) io.progress(`${formatCount(n, "row")} …`);
  }
}
