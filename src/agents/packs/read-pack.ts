import { readFileSync, statSync } from "node:fs";
import { BadPack, PACK_LIMITS, type PackFiles } from "./pack-files.ts";
import { readPackArchive } from "./read-archive.ts";
import { readPackFolder } from "./read-folder.ts";

/** A pack from a folder or an archive on this machine. Throws `BadPack`. */
export async function readPack(path: string): Promise<PackFiles> {
  try {
    const found = statSync(path);
    if (found.isDirectory()) return readPackFolder(path);
    if (found.size > PACK_LIMITS.maxBytes) throw new BadPack(`is larger than ${PACK_LIMITS.maxBytes} bytes`);
    return await readPackArchive(readFileSync(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw error instanceof BadPack || code === undefined ? error : new BadPack(`cannot be read: ${code}`);
  }
}
