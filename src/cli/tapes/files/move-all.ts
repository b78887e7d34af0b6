import { lstatSync, mkdtempSync, renameSync } from "node:fs";
import { join } from "node:path";

export interface Move {
  /** Absent when what is there only has to go. */
  readonly from?: string;
  readonly to: string;
}

/**
 * Puts files and folders in their places, in this order: all of them, or everything is as it was. What was there goes into the folder
 * `aside`, for whoever made that to remove. At once, so that no signal comes in between.
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
      // A folder in the place of a file may hold anything, and the system refuses to replace it.
      const isInTheWay = from !== undefined && there?.isDirectory() && !lstatSync(from).isDirectory();
      if (there && !isInTheWay) move(to, join(replaced, String(i)));
      if (from !== undefined) move(from, to);
    }
  } catch (error) {
    for (const { from, to } of done.reverse()) renameSync(to, from);
    throw error;
  }
}
