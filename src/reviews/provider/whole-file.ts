import { randomBytes } from "node:crypto";
import { open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

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
