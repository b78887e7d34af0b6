import { AppError } from "../../protocol/errors.ts";
import { migrate as migrateSchema, schemaState } from "../../store/schema/migrate.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import { describeDatabase, requireFolder, withDatabase, withSnapshot } from "./database.ts";
import type { MIGRATE_FLAGS } from "./database-commands.ts";

/** `--check` reads beside a running server; migrating a file needs it to itself. */
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
