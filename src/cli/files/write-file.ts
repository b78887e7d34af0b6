import { createWriteStream, existsSync, rmSync } from "node:fs";
import { rename } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { AppError } from "../../protocol/errors.ts";

/** Taken up before the work begins, so that nobody waits for an hour to hear that the file exists. */
export function refuseExisting(path: string, force: boolean): void {
  if (force || !existsSync(path)) return;
  throw new AppError("unusable_input", { problem: `${path} exists; use --force to replace it, or another name` });
}

/**
 * Writes a file under another name, readable by its owner alone, and renames it when it is whole and on disk: whoever
 * finds the name finds all of it. Compressed when the name ends in `.gz`. Asks for more only when there is room.
 */
export async function writeWhole(path: string, content: AsyncIterable<string>): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  const file = createWriteStream(draft, { flags: "wx", mode: 0o600, flush: true });
  try {
    if (path.endsWith(".gz")) await pipeline(inChunks(content), createGzip(), file);
    else await pipeline(inChunks(content), file);
    await rename(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall === undefined || error instanceof AppError) throw error;
    throw new AppError("unusable_input", { problem: `${path} cannot be written: ${message}` }, { cause: error });
  }
}

const CHUNK_CHARACTERS = 65_536;

/** A write for every line would be most of the work. */
async function* inChunks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = "";
  for await (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}
