import { createWriteStream, rmSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
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
    await mkdir(dirname(path), { recursive: true });
    await pipeline(Readable.from(inPieces(content)), createWriteStream(draft, { flags: "wx", flush: true }));
    await rename(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall === undefined || error instanceof FileError) throw error;
    throw new FileError("write_failed", path, `write ${path}: ${message}`);
  }
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
