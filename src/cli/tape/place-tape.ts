import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { bodiesOf, sidecarOf } from "./tape-paths.ts";
import { writing } from "./writing.ts";

/**
 * Has a tape written with what stands beside it, and moves all of it to its place when it is whole: when something fails before
 * that, everything is as it was. Bodies that are there already stay.
 */
export async function placeTape<T>(output: string, write: (tape: string) => Promise<T>): Promise<T> {
  const folder = dirname(output);
  const made = await writing(output, () => mkdir(folder, { recursive: true }));
  const draft = await writing(output, () => mkdtemp(join(folder, ".tape-")));
  try {
    const tape = join(draft, basename(output));
    const written = await writing(output, () => write(tape));
    await writing(output, () => moveAll(tape, output));
    return written;
  } catch (error) {
    if (made !== undefined) await rm(made, { recursive: true, force: true });
    throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** The tape comes last, so that whoever finds it finds the rest. */
async function moveAll(from: string, to: string): Promise<void> {
  if (existsSync(bodiesOf(from))) {
    await mkdir(bodiesOf(to), { recursive: true });
    for (const name of await readdir(bodiesOf(from))) {
      await rename(join(bodiesOf(from), name), join(bodiesOf(to), name));
    }
  }
  if (existsSync(sidecarOf(from))) await rename(sidecarOf(from), sidecarOf(to));
  await rename(from, to);
}
