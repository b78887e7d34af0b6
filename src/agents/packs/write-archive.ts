import { paddingOf, tarEnd, tarHeader } from "../../formats/archives/tar-header.ts";
import { BadPack, type PackFiles } from "./pack-files.ts";

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
