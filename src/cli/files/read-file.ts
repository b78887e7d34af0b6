import { isUtf8 } from "node:buffer";
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { byteLines } from "../../formats/text/byte-chunks.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";

/**
 * The bytes of a file, decompressed when they are a gzip archive: by its first bytes, since the name may have changed
 * on the way. Throws `unusable_input` for a file that cannot be read or an archive that is damaged.
 */
export async function* readWhole(path: string): AsyncGenerator<Uint8Array> {
  try {
    const zipped = await isZipped(path);
    const bytes = createReadStream(path);
    if (!zipped) return yield* bytes;
    const gunzip = createGunzip();
    bytes.on("error", (error) => gunzip.destroy(error));
    yield* bytes.pipe(gunzip);
  } catch (error) {
    throw explained(error, path);
  }
}

async function isZipped(path: string): Promise<boolean> {
  const handle = await open(path, "r");
  try {
    const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await handle.close();
  }
}

function explained(error: unknown, path: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code?.startsWith("Z_")) {
    return unusableInput(`${path}: the archive is truncated or damaged`, error);
  }
  if (code === undefined || error instanceof AppError) return error;
  return unusableInput(`${path} cannot be read: ${message}`, error);
}

interface SeekableInput {
  readonly path: string;
  remove(): void;
}

/** A file that can be read more than once: the one named or, for `-`, a copy of standard input until it is removed. */
export async function seekable(file: string): Promise<SeekableInput> {
  if (file !== "-") return { path: file, remove: () => {} };
  const folder = mkdtempSync(join(tmpdir(), "assay-input-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const path = join(folder, "input");
  try {
    await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    remove();
    throw error;
  }
  return { path, remove };
}

/** Its lines; one that is no UTF-8 is given as what it is not, so that nothing is made up in its place. */
export async function* textLines(path: string): AsyncGenerator<string> {
  for await (const line of byteLines(readWhole(path))) {
    yield isUtf8(line) ? Buffer.from(line).toString("utf8") : NOT_UTF8;
  }
}

const NOT_UTF8 = "not UTF-8";
