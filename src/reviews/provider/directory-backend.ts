import { readdir, rmdir, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { parsedJson } from "../../formats/json/check-json.ts";
import { unusableInput } from "../../protocol/errors.ts";
import { matches } from "../../protocol/schema.ts";
import { type DirectoryLock, lockDirectory } from "./directory-lock.ts";
import { codeOf, makeDirectory, readRegularFile, removeDrafts, replaceFile } from "./files.ts";
import {
  type AnsweredTurn,
  type Held,
  type Kept,
  newSession,
  type ReviewSession,
  type SessionBackend,
  SessionFile,
} from "./session.ts";
import { isSessionID, newSessionID } from "./stream-ids.ts";

export interface DirectoryBackendOptions {
  /** The time to wait for a session that others hold. */
  readonly busyMs?: number;
}

export const BUSY_MS = 30_000;

/**
 * Sessions as directories, each with a `session.json` that is replaced as a whole: readers, also other programs, find the state
 * after one turn or after the next. A directory without that file is a session that was never reported to a requester. Throws
 * `unusable_input` when the directory cannot be used.
 */
export function directoryBackend(root: string, { busyMs = BUSY_MS }: DirectoryBackendOptions = {}): SessionBackend {
  const explained = <T>(work: Promise<T>): Promise<T> => work.catch((error) => Promise.reject(unusable(root, error)));
  return {
    withSession: (sessionID, work) => explained(withSession(root, sessionID, busyMs, work)),
    withNewSession: (work) => explained(withNewSession(root, work)),
    fork: (sessionID) => explained(fork(root, sessionID)),
    latest: () => explained(latest(root)),
    read: (sessionID) => explained(read(root, sessionID).then((stored) => stored?.session)),
  };
}

async function withSession<T>(
  root: string,
  sessionID: string,
  busyMs: number,
  work: (session: ReviewSession) => Promise<Kept<T>>,
): Promise<Held<T>> {
  if ((await read(root, sessionID)) === undefined) return { ok: false, why: "unknown" };
  const dir = join(root, sessionID);
  const lock = await lockDirectory(dir, busyMs);
  if (lock === undefined) return { ok: false, why: "busy" };
  try {
    await removeDrafts(dir, FILE);
    const stored = await read(root, sessionID);
    if (stored === undefined) return { ok: false, why: "unknown" };
    const { session, result } = await work(stored.session);
    return (await keep(dir, lock, stored, session)) ? { ok: true, result } : { ok: false, why: "busy" };
  } finally {
    await lock.release();
  }
}

/** False when another process took the session over and has gone on with it. */
async function keep(
  dir: string,
  lock: DirectoryLock,
  { turns }: StoredSession,
  session: ReviewSession | undefined,
): Promise<boolean> {
  if (!(await lock.isHeld())) return false;
  if (session !== undefined) await replaceFile(join(dir, FILE), sessionFileText(session, turns));
  // Used, though nothing of it changed: the one that was used last is found by this.
  else await utimes(join(dir, FILE), new Date(), new Date());
  return true;
}

async function withNewSession<T>(root: string, work: (session: ReviewSession) => Promise<Kept<T>>): Promise<T> {
  const fresh = newSession(newSessionID(Date.now()));
  // Directories are made before the work, so that a session that cannot be kept fails before its review.
  const dir = join(root, fresh.sessionID);
  await makeDirectory(dir);
  try {
    const { session = fresh, result } = await work(fresh);
    await replaceFile(join(dir, FILE), sessionFileText(session, []));
    return result;
  } catch (error) {
    // The session was never reported, so a directory that cannot be removed does no harm.
    await rmdir(dir).catch(() => {});
    throw error;
  }
}

async function fork(root: string, sessionID: string): Promise<string | undefined> {
  const stored = await read(root, sessionID);
  if (stored === undefined) return undefined;
  const forked = { ...stored.session, sessionID: newSessionID(Date.now()) };
  const dir = join(root, forked.sessionID);
  await makeDirectory(dir);
  await replaceFile(join(dir, FILE), sessionFileText(forked, stored.turns));
  return forked.sessionID;
}

async function latest(root: string): Promise<string | undefined> {
  const names = await readdir(root).catch((error) => {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  });
  let found: { readonly name: string; readonly at: bigint } | undefined;
  for (const name of names.filter(isSessionID).sort()) {
    const used = await stat(join(root, name, FILE), { bigint: true }).catch(() => undefined);
    if (used && (found === undefined || used.mtimeNs >= found.at)) found = { name, at: used.mtimeNs };
  }
  return found?.name;
}

const FILE = "session.json";

async function read(root: string, sessionID: string): Promise<StoredSession | undefined> {
  if (!isSessionID(sessionID)) return undefined;
  const path = join(root, sessionID, FILE);
  const text = await readRegularFile(path).catch((error) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const stored = readSessionFile(text);
  if (stored?.session.sessionID === sessionID) return stored;
  throw unusableInput(`${path} is not the file of a session, or is damaged`);
}

function unusable(root: string, error: unknown): unknown {
  const { syscall, message } = (error ?? {}) as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  return unusableInput(`${root} cannot hold review sessions: ${message}`, error);
}

interface StoredSession {
  readonly session: ReviewSession;
  readonly turns: readonly AnsweredTurn[];
}

/** Undefined for a text that is no session. */
function readSessionFile(text: string): StoredSession | undefined {
  const stored = parsedJson(text);
  if (!matches(SessionFile, stored)) return undefined;
  const { version: _, turns, ...session } = stored;
  return { session: session as ReviewSession, turns };
}

function sessionFileText(session: ReviewSession, earlier: readonly AnsweredTurn[]): string {
  return `${JSON.stringify({ version: 1, ...session, turns: turnsWith(session.answered, earlier) }, null, 2)}\n`;
}

function turnsWith(answered: AnsweredTurn | undefined, earlier: readonly AnsweredTurn[]): readonly AnsweredTurn[] {
  if (answered === undefined) return [];
  return [...earlier.filter(({ iteration }) => iteration < answered.iteration), answered];
}
