import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import {
  BadArchive,
  type ForeignEntry,
  paddingOf,
  readForeignHeader,
  TarReader,
  tarEnd,
  tarHeader,
} from "../../formats/archives/tar.ts";
import { BadPack, PACK_LIMITS, PackFileList, type PackFiles, packPath } from "./pack-files.ts";

/** The files of a tar archive, compressed or not. Throws `BadPack`; nothing is ever written to a disk. */
export async function readPackArchive(bytes: Uint8Array): Promise<PackFiles> {
  const archive = isGzip(bytes) ? await unzipped(bytes) : bytes;
  const reader = new TarReader([archive], readForeignHeader);
  const list = new PackFileList();
  try {
    for (let entry = await reader.next(); entry; entry = await reader.next()) await take(entry, reader, list);
  } catch (error) {
    if (error instanceof BadArchive) throw new BadPack(`is not an archive that can be read: ${error.message}`);
    throw error;
  }
  return list.files();
}

async function take(entry: ForeignEntry, reader: TarReader<ForeignEntry>, list: PackFileList): Promise<void> {
  list.expect(entry.size);
  const pieces: Uint8Array[] = [];
  for await (const piece of reader.content(entry)) pieces.push(piece);
  const content = Buffer.concat(pieces);
  if (entry.kind === "notes") return checkNotes(content);
  const path = entry.name === "./" || entry.name === "." ? undefined : packPath(entry.name);
  if (entry.kind === "file" && path !== undefined) list.add(path, content);
}

/** Times and owners may be noted. A name or a size that is given there and not in the header would be read in two ways. */
function checkNotes(content: Buffer): void {
  const found = content.toString("latin1").match(/^\d+ (path|linkpath|size|GNU\.sparse[^=]*)=/m);
  if (found) throw new BadPack(`is an archive with a long ${found[1]}; make it with --format=ustar`);
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

// Room for the headers, so that a pack at the limit can still be read.
const UNZIPPED_BYTES_MAX = PACK_LIMITS.maxBytes + PACK_LIMITS.maxFiles * 2048;

async function unzipped(bytes: Uint8Array): Promise<Uint8Array> {
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: UNZIPPED_BYTES_MAX });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new BadPack(
      code === "ERR_BUFFER_TOO_LARGE"
        ? `has more than ${PACK_LIMITS.maxBytes} bytes in its files`
        : "is compressed, and damaged",
    );
  }
}

/** Writes a tar archive. The same files give the same bytes. */
export function packArchive(files: PackFiles): Uint8Array<ArrayBuffer> {
  const paths = [...files.keys()].sort();
  const blocks = paths.flatMap((path) => {
    const content = files.get(path) ?? new Uint8Array();
    const header = tarHeader({ name: path, size: content.length });
    if (header === undefined) throw new BadPack(`has a path that is too long for an archive, ${JSON.stringify(path)}`);
    return [header, content, new Uint8Array(paddingOf(content.length))];
  });
  return new Uint8Array(Buffer.concat([...blocks, tarEnd()]));
}
