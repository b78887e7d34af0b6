import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { mkdir } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { FileError } from "../../formats/text/file-error.ts";
import { writing } from "./write-file.ts";

export interface LockSettings {
  /** How long to wait for another writer. */
  readonly waitMs: number;
  readonly pollMs: number;
  /** A lock this old is left over, even if its holder seems alive: process ids are reused, and a holder may be on another machine. */
  readonly staleMs: number;
}

const SETTINGS: LockSettings = { waitMs: 30_000, pollMs: 25, staleMs: 600_000 };

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** Distinguishes this lock from every other one, also of the same process. */
  readonly token: string;
}

export function lockOf(path: string): string {
  return `${path}.lock`;
}

/**
 * The lock of a file: one process at a time works on it. The lock is a file next to it, which exists only meanwhile. Missing folders
 * are made. A lock that a killed process left behind is taken over. Throws `write_failed` when another writer takes too long.
 */
export async function withFileLock<T>(
  path: string,
  work: () => Promise<T>,
  settings: LockSettings = SETTINGS,
): Promise<T> {
  await writing(path, () => mkdir(dirname(path), { recursive: true }));
  const mine = JSON.stringify({ pid: process.pid, host: hostname(), token: randomUUID() } satisfies Holder);
  await take(path, mine, settings);
  try {
    return await work();
  } finally {
    // A lock that looked left over was taken over: it belongs to another process now.
    if (textOf(lockOf(path)) === mine) rmSync(lockOf(path), { force: true });
  }
}

async function take(path: string, mine: string, settings: LockSettings): Promise<void> {
  const lock = lockOf(path);
  for (let waitedMs = 0; ; waitedMs += settings.pollMs) {
    if (tryMake(path, mine)) return;
    const held = textOf(lock);
    if (held !== undefined && isLeftOver(lock, held, settings.staleMs)) {
      removeLeftOver(lock, held);
      if (tryMake(path, mine)) return;
    }
    if (waitedMs >= settings.waitMs) throw busy(path, held ?? "");
    await sleep(settings.pollMs);
  }
}

/** A lock that was made and not written yet names no holder, and is never taken over. So a lock that cannot be written is removed. */
function tryMake(path: string, mine: string): boolean {
  const lock = lockOf(path);
  let file: number | undefined;
  try {
    file = openSync(lock, "wx");
    writeFileSync(file, mine);
    return true;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (file !== undefined) rmSync(lock, { force: true });
    else if (code === "EEXIST") return false;
    throw new FileError("write_failed", path, `write ${path}: ${message}`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function isLeftOver(lock: string, held: string, staleMs: number): boolean {
  const holder = holderIn(held);
  if (holder !== undefined && holder.host === hostname() && !isAlive(holder.pid)) return true;
  const madeAtMs = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
  return madeAtMs !== undefined && Date.now() - madeAtMs > staleMs;
}

/**
 * Removes a lock that was left over. Two processes may find the same one, and the slower must not remove the new lock of the quicker:
 * so the lock is renamed first, and put back when it turns out to be another one.
 */
export function removeLeftOver(lock: string, held: string): void {
  const aside = `${lock}.${randomUUID()}`;
  try {
    renameSync(lock, aside);
    if (textOf(aside) !== held) copyFileSync(aside, lock, constants.COPYFILE_EXCL);
  } catch {
    // Another process was quicker; the next round reads the lock again.
  } finally {
    rmSync(aside, { force: true });
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function holderIn(text: string): Holder | undefined {
  try {
    const { pid, host, token } = JSON.parse(text) as Partial<Holder>;
    return typeof pid === "number" && typeof host === "string" && typeof token === "string"
      ? { pid, host, token }
      : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function busy(path: string, held: string): FileError {
  const holder = holderIn(held);
  const writer = holder === undefined ? "another process" : `process ${holder.pid} on ${holder.host}`;
  const problem = `${writer} is writing it; if that process has ended, remove ${lockOf(path)}`;
  return new FileError("write_failed", path, `write ${path}: ${problem}`);
}
