import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { BundleManifest } from "../../formats/tape/bundle.ts";
import { refuseExisting } from "../write-file.ts";
import { bodiesOf, sidecarOf } from "./tape-paths.ts";
import { writing } from "./writing.ts";

/** What stands beside each other after unpacking; the tape comes last, so that whoever finds it finds the rest. */
function namesIn({ tape, annotations, bodies }: BundleManifest): string[] {
  return [
    ...(bodies.length === 0 ? [] : [bodiesOf(tape.name)]),
    ...(annotations === null ? [] : [sidecarOf(tape.name)]),
    tape.name,
  ];
}

/**
 * Has a folder filled and moves what is in it to `output`, or leaves everything as it was when filling fails. What stands in the way is
 * refused before anything is written, unless it may be replaced.
 */
export async function place(
  manifest: BundleManifest,
  output: string,
  force: boolean,
  fill: (folder: string) => Promise<void>,
): Promise<void> {
  const names = namesIn(manifest);
  for (const name of names) refuseExisting(join(output, name), force);
  const made = await writing(output, () => mkdir(output, { recursive: true }));
  const draft = await writing(output, () => mkdtemp(join(output, ".unbundle-")));
  try {
    await writing(output, () => fill(draft));
    await writing(output, () => moveAll(names, draft, output));
  } catch (error) {
    if (made !== undefined) await rm(made, { recursive: true, force: true });
    throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function moveAll(names: readonly string[], from: string, to: string): Promise<void> {
  const replaced = await mkdtemp(join(from, "replaced-"));
  for (const name of names) {
    // A folder cannot be renamed onto one that is not empty.
    if (existsSync(join(to, name))) await rename(join(to, name), join(replaced, name));
    await rename(join(from, name), join(to, name));
  }
}
