import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { AppError } from "../../protocol/errors.ts";
import { explain, isBusy } from "./database-error.ts";
import { openForLocking } from "./open-database.ts";

export interface OwnerLock {
  release(): void;
}

interface Owner {
  readonly pid: number;
  readonly host: string;
  readonly startedAt: string;
}

/**
 * Makes this process the owner of a database file, or throws `database_in_use` naming the one that is. Leases and
 * change notices of a SQLite store are known to its owner only, so a second process must not write.
 *
 * The lock is SQLite's own, on a second, empty database: the operating system drops it when the process ends, in
 * whatever way, so a killed owner leaves no lock. Nothing else may open `….owner.lock` in this process: closing any
 * descriptor of a file gives up all POSIX locks the process has on it. Hence the second file for who it is.
 */
export async function takeOwnership(path: string): Promise<OwnerLock> {
  const lockFile = `${path}.owner.lock`;
  const ownerFile = `${path}.owner.json`;
  const db = await openForLocking(lockFile).catch((error) => {
    throw explain(error);
  });
  try {
    db.exec("begin exclusive");
  } catch (error) {
    db.close();
    if (!isBusy(error)) throw explain(error);
    const owner = readOwner(ownerFile);
    throw new AppError("database_in_use", { path, pid: owner?.pid ?? "unknown", host: owner?.host ?? "unknown" });
  }
  writeOwner(ownerFile, { pid: process.pid, host: hostname(), startedAt: new Date().toISOString() });
  return {
    release: () => {
      rmSync(ownerFile, { force: true });
      db.close();
    },
  };
}

/** Renamed into place, so that no reader sees half of it. */
function writeOwner(path: string, owner: Owner): void {
  const draft = `${path}.${process.pid}.tmp`;
  writeFileSync(draft, `${JSON.stringify(owner)}\n`);
  renameSync(draft, path);
}

/** Undefined in the moment between taking the lock and signing it. */
function readOwner(path: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Owner;
  } catch {
    return undefined;
  }
}
