import { createWriteStream } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { writing } from "./writing.ts";

export type Texts = Iterable<string> | AsyncIterable<string>;

/** Writes a file in place of what was there; see `replaceFile`. */
export function writeOutput(path: string, content: Texts): Promise<void> {
  return replaceFile(path, (file) => pipeline(Readable.from(inPieces(content)), file));
}

/**
 * Has a file written in place of what was there, when it is whole: a failure leaves what was there before. Missing directories are
 * made. Errors of what is written pass as they are.
 */
export async function replaceFile(path: string, write: (file: Writable) => Promise<void>): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    await writing(path, async () => {
      if (await isSpecial(path)) return write(createWriteStream(path));
      await mkdir(dirname(path), { recursive: true });
      await write(createWriteStream(draft, { flags: "wx", flush: true }));
      await rename(draft, path);
    });
  } catch (error) {
    // Where it could not be made, it cannot be removed either, and why is known already.
    await rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}

/** Pipes and devices are written to: another file in place of `/dev/null` would be a disaster for all others. */
async function isSpecial(path: string): Promise<boolean> {
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
