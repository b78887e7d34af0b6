import { AppError } from "../../protocol/errors.ts";
import { restoreBackup } from "../../store/backup/restore.ts";
import { migrate } from "../../store/schema/migrate.ts";
import { readWhole } from "../files/read-file.ts";
import { formatCount } from "../output/amount.ts";
import type { Call } from "../program/command.ts";
import { rowsIn } from "./backup.ts";
import { describeDatabase, withDatabase } from "./database.ts";

export async function restore({ args: [file = ""], json, config, io }: Call): Promise<undefined> {
  const content = readWhole(file);
  // Before anything is made: a mistyped name must not leave a new, empty database behind.
  const first = await content.next();
  const trailer = await withDatabase(config, async (db) => {
    await migrate(db);
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

/** Complaints about the content say which file they are about. */
function naming(file: string, error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== "unusable_input") return error;
  const problem = String(error.details["problem"]);
  if (problem.startsWith(file)) return error;
  return new AppError("unusable_input", { problem: `${file}: ${problem}` }, { cause: error });
}
