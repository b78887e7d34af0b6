import { lstatSync, mkdtempSync, renameSync } from "node:fs";
import { mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { unusableInput } from "../../../protocol/errors.ts";
import { inPieces, type Texts, withDraft, writeOutput, writing } from "../../files/write-file.ts";
import type { Io } from "../../output/io.ts";

/** Writes a complete result to the file, or to standard output when no file is named. */
export async function emit(content: Texts, output: string | undefined, io: Io): Promise<void> {
  if (output !== undefined) {
    await writeOutput(output, content);
    return;
  }
  for await (const piece of inPieces(content)) {
    // The reader is gone.
    if (io.outClosed.aborted) return;
    await io.write(piece);
  }
}

/** Whether two paths lead to the same existing file. */
async function isSameFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => stat(path).catch(() => undefined)));
  return a !== undefined && b !== undefined && a.isFile() && a.ino === b.ino && a.dev === b.dev;
}

/** Refuses a result that would replace one of the inputs. `flag` names the result. */
export async function refuseInput(flag: string, output: string, inputs: readonly string[]): Promise<void> {
  for (const input of inputs) {
    if (await isSameFile(output, input)) throw unusableInput(`${flag} would replace ${input}`);
  }
}

/**
 * Runs `work` with a draft folder inside `folder`, from where complete files can be moved to their places. When it fails, the folders
 * that were created for it are removed. `path` is the user's name for the result.
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

export interface Move {
  /** Absent to remove `to` only. */
  readonly from?: string;
  readonly to: string;
}

/**
 * Moves files and folders to their places, in this order, or undoes all moves when one fails. Replaced files go into the folder `aside`,
 * which the caller removes. Synchronous, so that no signal can interrupt it.
 */
export function moveAll(moves: readonly Move[], aside: string): void {
  const replaced = mkdtempSync(join(aside, "replaced-"));
  const done: Required<Move>[] = [];
  const move = (from: string, to: string) => {
    renameSync(from, to);
    done.push({ from, to });
  };
  try {
    for (const [i, { from, to }] of moves.entries()) {
      const there = lstatSync(to, { throwIfNoEntry: false });
      // A folder in the place of a file is not moved aside, because its content is unknown; the rename then fails.
      const isInTheWay = from !== undefined && there?.isDirectory() && !lstatSync(from).isDirectory();
      if (there && !isInTheWay) move(to, join(replaced, String(i)));
      if (from !== undefined) move(from, to);
    }
  } catch (error) {
    for (const { from, to } of done.reverse()) renameSync(to, from);
    throw error;
  }
}
