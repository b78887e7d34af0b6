import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BadPack, PackFileList, type PackFiles, packPath } from "./pack-files.ts";

/** The files of a folder. Throws `BadPack`, also for links: what they lead to is not in the pack. */
export function readPackFolder(folder: string): PackFiles {
  const list = new PackFileList();
  take(folder, "", list);
  return list.files();
}

function take(folder: string, inside: string, list: PackFileList): void {
  for (const name of readdirSync(folder).sort()) {
    const path = packPath(inside === "" ? name : `${inside}/${name}`);
    if (path === undefined) continue;
    const where = join(folder, name);
    const found = lstatSync(where);
    if (found.isDirectory()) take(where, path, list);
    else if (!found.isFile()) throw new BadPack(`has ${JSON.stringify(path)}, which is not a plain file`);
    else {
      list.expect(found.size);
      list.add(path, readFileSync(where));
    }
  }
}
