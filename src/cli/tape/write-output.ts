import { createWriteStream } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { FileError } from "../../formats/file-error.ts";

export type Texts = Iterable<string> | AsyncIterable<string>;

/**
 * Writes a file in place of what was there, when it is whole: a failure leaves what was there before. Missing directories are made.
 * Errors of `content` itself pass as they are.
 */
export async function writeOutput(path: string, content: Texts): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    if (await isSpecial(path)) return await pipeline(Readable.from(inPieces(content)), createWriteStream(path));
    await mkdir(dirname(path), { recursive: true });
    await pipeline(Readable.from(inPieces(content)), createWriteStream(draft, { flags: "wx", flush: true }));
    await rename(draft, path);
  } catch (error) {
    // Where there can be no draft, such as below a file, there is none to remove.
    await rm(draft, { force: true }).catch(() => undefined);
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall === undefined || error instanceof FileError) throw error;
    throw new FileError("write_failed", path, `write ${path}: ${message}`);
  }
}

/** Pipes and devices are written to: another file in place of `/dev/null` would be a disaster for all others. */
export async function isSpecial(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && !found.isFile() && !found.isDirectory();
}

const PIECE_CHARACTERS = 1 << 16;

/** A write for every line would be most of the work. */
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
