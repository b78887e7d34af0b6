// @ts-check
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

const memory = "/dev/shm";
const bytesNeeded = 3 * 2 ** 30;
const name = /^assay-test-run-(\d+)$/;

/**
 * Makes a folder in memory for the temporary files of a test run: databases are most of them, and no test ends the machine. It is removed when
 * this process exits.
 * @returns {string | undefined} nothing where there is no room for it, or no such file system
 */
export function makeMemoryFolder() {
  if (!existsSync(memory)) return undefined;
  removeAbandoned();
  const { bavail, bsize } = statfsSync(memory);
  if (bavail * bsize < bytesNeeded) return undefined;
  const folder = join(memory, `assay-test-run-${process.pid}`);
  // PostgreSQL runs as another user where root runs the tests.
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  process.on("exit", () => {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // A process of a run that was ended still writes; the next run removes the rest.
    }
  });
  return folder;
}

/** Removes the folders of killed runs. */
function removeAbandoned() {
  for (const entry of readdirSync(memory)) {
    const pid = Number(name.exec(entry)?.[1]);
    if (pid && isGone(pid)) rmSync(join(memory, entry), { recursive: true, force: true });
  }
}

/** @param {number} pid */
function isGone(pid) {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "ESRCH";
  }
}
