import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import { AppError } from "../../protocol/errors.ts";

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
    return new AppError(
      "unusable_input",
      { problem: `${path}: the archive is truncated or damaged` },
      { cause: error },
    );
  }
  if (code === undefined || error instanceof AppError) return error;
  return new AppError("unusable_input", { problem: `${path} cannot be read: ${message}` }, { cause: error });
}
