import { randomBytes } from "node:crypto";
import { createWriteStream, existsSync, rmSync, type Stats } from "node:fs";
import { chmod, mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { FileError } from "../../formats/text/file-error.ts";
import { unusableInput } from "../../protocol/errors.ts";
import { onSignals } from "../program/exit-codes.ts";

export type Texts = Iterable<string> | AsyncIterable<string>;

interface WriteSettings {
  /** Only its owner can read the result, also when others could read the file before. */
  readonly ownerOnly?: boolean;
  /**
   * For a process that serves: signals are left to it, and the folder is synced, since without that a power cut can undo the
   * renaming.
   */
  readonly byServer?: boolean;
}

/** Refuses to replace a file, before work begins that would take a long time and then fail. */
export function refuseExisting(path: string, force: boolean): void {
  if (!force && existsSync(path)) throw unusableInput(`${path} exists; use --force to replace it, or another name`);
}

/**
 * Writes a text file; see `replaceFile`. Compressed when the name ends in `.gz`. Throws `unusable_input` when the file cannot be
 * written.
 */
export async function writeWhole(path: string, content: Texts, settings: WriteSettings = {}): Promise<void> {
  const compressed = path.endsWith(".gz") ? [createGzip()] : [];
  try {
    await replaceFile(path, (file) => pipeline([Readable.from(inPieces(content)), ...compressed, file]), settings);
  } catch (error) {
    if (!isOfSystem(error)) throw error;
    throw unusableInput(`${path} cannot be written: ${reasonOf(error)}`, error);
  }
}

/** Writes an output of a command about tapes. Missing folders are made. Throws `write_failed` when the file cannot be written. */
export function writeOutput(path: string, write: Texts | ((file: Writable) => Promise<void>)): Promise<void> {
  return writing(path, async () => {
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) await mkdir(dirname(path), { recursive: true });
    const writer =
      typeof write === "function" ? write : (file: Writable) => pipeline(Readable.from(inPieces(write)), file);
    await replaceFile(path, writer);
  });
}

/** Turns an error of the system into `write_failed`, the error of commands about tapes. Other errors pass unchanged. */
export async function writing<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!isOfSystem(error) || error instanceof FileError) throw error;
    throw new FileError("write_failed", path, `write ${path}: ${reasonOf(error)}`);
  }
}

/**
 * Replaces a file: it is written under another name and renamed when it is whole and on disk, so readers find all of it or what was
 * there before. A link stays, and the file that it leads to is replaced. Permissions stay as they were.
 */
export async function replaceFile(
  path: string,
  write: (file: Writable) => Promise<void>,
  { ownerOnly = false, byServer = false }: WriteSettings = {},
): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined && isSpecial(found)) return write(createWriteStream(path));
  const target = found === undefined ? path : await realpath(path);
  // Random: process ids are reused, and a killed process leaves its draft behind.
  const draft = `${target}.${randomBytes(6).toString("hex")}.tmp`;
  const work = async () => {
    const mode = ownerOnly || found !== undefined ? { mode: OWNER_ONLY } : {};
    await write(createWriteStream(draft, { flags: "wx", flush: true, ...mode }));
    if (found !== undefined && !ownerOnly) await chmod(draft, found.mode & PERMISSIONS);
    await rename(draft, target);
  };
  await withDraft(draft, work, byServer ? [] : undefined);
  if (byServer) await syncFolder(dirname(target));
}

const OWNER_ONLY = 0o600;
const PERMISSIONS = 0o777;

/** Pipes and devices are written to: a file in place of `/dev/null` would harm every other program. */
function isSpecial(found: Stats): boolean {
  return !found.isFile() && !found.isDirectory();
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Works on a file or a folder that is not whole yet, and removes what is left of it, also when a signal ends the process. */
export async function withDraft<T>(
  draft: string,
  work: () => Promise<T>,
  signals?: readonly NodeJS.Signals[],
  endBy: (signal: NodeJS.Signals) => void = (signal) => process.kill(process.pid, signal),
): Promise<T> {
  const onSignal = (signal: NodeJS.Signals) => {
    rmSync(draft, { recursive: true, force: true });
    stopListening();
    endBy(signal);
  };
  const stopListening = onSignals(onSignal, signals);
  try {
    return await work();
  } finally {
    stopListening();
    // A draft that could not be made cannot be removed either; the first error is the one to report.
    await rm(draft, { recursive: true, force: true }).catch(() => {});
  }
}

const PIECE_CHARACTERS = 1 << 16;

/** Joins short texts: one write for each line would be most of the work. */
export async function* inPieces(texts: Texts): AsyncGenerator<string> {
  let piece = "";
  for await (const text of texts) {
    piece += text;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

function isOfSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && (error as NodeJS.ErrnoException).syscall !== undefined;
}

/** The message of the system without the paths at its end: one of them is a draft, which the user does not know. */
function reasonOf({ message }: Error): string {
  return message.replace(/, \w+ '.*$/s, "");
}
