import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { withDraft, writing } from "../../files/write-file.ts";

/**
 * Has files made in a folder of their own inside `folder`, from where they can be moved to their places when all are whole. A folder
 * that was made for it is gone again when that fails. `path` is what the user called the result.
 */
export async function inDraftFolder<T>(folder: string, path: string, work: (draft: string) => Promise<T>): Promise<T> {
  const made = await writing(path, () => mkdir(folder, { recursive: true }));
  try {
    const draft = await writing(path, () => mkdtemp(join(folder, ".tape-")));
    return await withDraft(draft, () => writing(path, () => work(draft)));
  } catch (error) {
    if (made !== undefined) await rm(made, { recursive: true, force: true });
    throw error;
  }
}
