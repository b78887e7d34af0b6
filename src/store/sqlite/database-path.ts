import { closeSync, existsSync, mkdirSync, openSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** One name per file, so that a link to it meets the same lock. Its folder is made when it is missing. */
export function databasePath(given: string): string {
  if (existsSync(given)) return realpathSync(given);
  const folder = dirname(given);
  makeFolder(folder);
  return join(realpathSync(folder), basename(given));
}

/** The file holds secrets of the host. SQLite gives its companions the same permissions. */
export function makeDatabaseFile(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
}

/** Not with `recursive`, which never returns where the system says that an existing parent is not there (/proc). */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process was first.
    if (!existsSync(folder)) throw error;
  }
}
