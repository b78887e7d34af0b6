import { randomBytes } from "node:crypto";
import { link, readdir, readFile, readlink, rename, rm, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parsedJson } from "../../formats/json/check-json.ts";
import { codeOf, readRegularFile } from "./files.ts";

export interface DirectoryLock {
  /** Whether no other process has taken the lock over. */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

interface Holder extends WhichProcess {
  readonly token: string;
}

const POLL_MS = 25;
/** Locks of holders on other machines expire after this time; no review takes as long. */
const FORGOTTEN_AFTER_MS = 15 * 60_000;

/**
 * Takes a directory for this process; undefined when others hold it for all of `waitMs`.
 *
 * The lock is a file that names its holder, linked into place so that it is there with its content or not at all. One whose holder has
 * ended is succeeded by a file named for it: only one process can make that, and it counts as soon as it is there. Removing the old
 * file instead would let two waiters remove each other's new one.
 */
export async function lockDirectory(dir: string, waitMs: number): Promise<DirectoryLock | undefined> {
  const mine: Holder = { token: randomBytes(12).toString("hex"), ...(await thisProcess()) };
  const until = Date.now() + waitMs;
  while (!(await take(dir, mine))) {
    if (Date.now() >= until) return undefined;
    await sleep(Math.min(POLL_MS, waitMs));
  }
  await removeForgotten(dir);
  const isHeld = async () => (await readHolder(lockPath(dir)))?.holder.token === mine.token;
  return {
    isHeld,
    release: async () => {
      if (await isHeld()) await rm(lockPath(dir), { force: true });
    },
  };
}

async function take(dir: string, mine: Holder): Promise<boolean> {
  if (await place(dir, lockPath(dir), mine)) return true;
  const last = await lastInLine(dir);
  if (last === undefined || !(await isGone(last))) return false;
  const next = successorPath(dir, last.holder);
  if (!(await place(dir, next, mine))) return false;
  // The read may be outdated: only the last entry of the line has the lock.
  if ((await lastInLine(dir))?.holder.token === mine.token) {
    await rename(next, lockPath(dir));
    return true;
  }
  await rm(next, { force: true });
  return false;
}

function lockPath(dir: string): string {
  return join(dir, "lock");
}

function successorPath(dir: string, { token }: Holder): string {
  return join(dir, `lock.after.${token}`);
}

async function place(dir: string, path: string, mine: Holder): Promise<boolean> {
  const draft = join(dir, `lock.draft.${mine.token}`);
  try {
    await writeFile(draft, `${JSON.stringify(mine)}\n`, { mode: 0o600 });
    await link(draft, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

interface Placed {
  readonly holder: Holder;
  readonly atMs: number;
}

async function lastInLine(dir: string): Promise<Placed | undefined> {
  let last = await readHolder(lockPath(dir));
  while (last !== undefined) {
    const next = await readHolder(successorPath(dir, last.holder));
    if (next === undefined) return last;
    last = next;
  }
  return undefined;
}

async function readHolder(path: string): Promise<Placed | undefined> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readRegularFile(path), stat(path)]);
    return { holder: parsed(text), atMs: mtimeMs };
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Lock files that lost their content in a power cut name no process. */
function parsed(text: string): Holder {
  const holder = (parsedJson(text) ?? {}) as Holder;
  if (/^[0-9a-f]{24}$/.test(holder.token) && Number.isSafeInteger(holder.pid)) return holder;
  return { token: "unreadable", pid: 0, where: "unknown" };
}

async function isGone({ holder, atMs }: Placed): Promise<boolean> {
  return (await hasEnded(holder)) ?? Date.now() - atMs > FORGOTTEN_AFTER_MS;
}

/** Removes files of processes that were killed while they took the lock. */
async function removeForgotten(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    if (!name.startsWith("lock.")) continue;
    const path = join(dir, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > FORGOTTEN_AFTER_MS) await rm(path, { force: true });
  }
}

export interface WhichProcess {
  readonly pid: number;
  /** The scope of the process id: the machine, and the container on it. */
  readonly where: string;
  /** When it began, by the system's own count, since numbers are used again. Absent where the system does not say. */
  readonly began?: string;
}

async function thisProcess(): Promise<WhichProcess> {
  const seen = await seenBySystem(process.pid);
  return { pid: process.pid, where: await here(), ...(seen === undefined ? {} : { began: seen.began }) };
}

/** Undefined when this process cannot find out. */
async function hasEnded({ pid, where, began }: WhichProcess): Promise<boolean | undefined> {
  if (where !== (await here())) return undefined;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Processes of other users are alive too.
    return codeOf(error) === "ESRCH";
  }
  const seen = await seenBySystem(pid);
  if (seen === undefined) return false;
  return seen.isZombie || (began !== undefined && seen.began !== began);
}

async function here(): Promise<string> {
  const container = await readlink("/proc/self/ns/pid").catch(() => "");
  return `${hostname()} ${container}`.trim();
}

async function seenBySystem(pid: number): Promise<{ began: string; isZombie: boolean } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  // The name of the program is in brackets and may contain any character.
  const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, began] = [fields?.[0], fields?.[19]];
  return state === undefined || began === undefined ? undefined : { began, isZombie: state === "Z" };
}
