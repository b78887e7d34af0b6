import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { unusableInput } from "../../protocol/errors.ts";

/** The text is written under another name, and renamed once it is whole and on disk: readers never find a part of it. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
}

/** Removes drafts of writers that were killed. Only for callers that know there is no other writer. */
export async function removeDrafts(dir: string, name: string): Promise<void> {
  for (const one of await readdir(dir)) {
    if (one.startsWith(`${basename(name)}.`) && one.endsWith(".tmp")) await rm(join(dir, one), { force: true });
  }
}

/** Without the sync a power cut could undo the renaming. */
async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Makes a directory and its parents, for their owner alone. The option `recursive` is not used: it loops for ever below an
 * existing directory in which nothing can be made, such as /proc.
 */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await make(path);
  } catch (error) {
    const above = dirname(path);
    if (codeOf(error) !== "ENOENT" || above === path) throw error;
    await makeDirectory(above);
    await make(path);
  }
}

async function make(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/**
 * Files are opened without waiting: a pipe in place of the file would block the reader until a writer comes, and a device has no
 * end.
 */
export async function readRegularFile(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if ((await file.stat()).isFile()) return await file.readFile("utf8");
  } finally {
    await file.close();
  }
  throw unusableInput(`${path} is not a regular file`);
}

/** `ENOENT` and the like; undefined for what the system did not say. */
export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}
