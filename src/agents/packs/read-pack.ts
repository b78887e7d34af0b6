import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { readPackArchive } from "./pack-archive.ts";
import { BadPack, PACK_LIMITS, PackFileList, type PackFiles, packPath } from "./pack-files.ts";

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

/** The files of a folder. Throws `BadPack`, also for links: what they lead to is not in the pack. */
function readPackFolder(folder: string): PackFiles {
  const list = new PackFileList();
  take(folder, "", list);
  return list.files();
}

function take(folder: string, inside: string, list: PackFileList): void {
  for (const name of readdirSync(folder).sort()) {
    const path = packPath(inside === "" ? name : `${inside}/${name}`);
    if (path === undefined) continue;
    const where = join(folder, name);
    if (lstatSync(where).isDirectory()) take(where, path, list);
    else list.add(path, readPlain(where, path, list));
  }
}

/** The opened file is checked, not its name: a link or a pipe could have replaced it in between. */
function readPlain(where: string, path: string, list: PackFileList): Buffer {
  const notPlain = new BadPack(`has ${JSON.stringify(path)}, which is not a plain file`);
  const file = opened(where);
  if (file === undefined) throw notPlain;
  try {
    const found = fstatSync(file);
    if (!found.isFile()) throw notPlain;
    list.expect(found.size);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** Undefined for links and for anything that cannot be opened as a file; never blocks. */
function opened(where: string): number | undefined {
  try {
    return openSync(where, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (["ELOOP", "ENXIO"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}
