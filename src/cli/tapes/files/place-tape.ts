import { existsSync } from "node:fs";
import { mkdir, readdir, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { inDraftFolder } from "./draft-folder.ts";
import { moveAll } from "./move-all.ts";
import { bodiesOf, sidecarOf } from "./tape-paths.ts";

/**
 * Has a tape written with what stands beside it, and moves all of it to its place when it is whole: when something fails before
 * that, everything is as it was. Bodies that are there already stay.
 */
export function placeTape<T>(output: string, write: (tape: string) => Promise<T>): Promise<T> {
  return inDraftFolder(dirname(output), output, async (draft) => {
    const tape = join(draft, basename(output));
    const written = await write(tape);
    await moveBodies(bodiesOf(tape), bodiesOf(output));
    const sidecar = { from: sidecarOf(tape), to: sidecarOf(output) };
    // The tape comes last, so that whoever finds it finds the rest.
    moveAll([...(existsSync(sidecar.from) ? [sidecar] : []), { from: tape, to: output }], draft);
    return written;
  });
}

/** Their names say what is in them, so one that is there already is the same. */
async function moveBodies(from: string, to: string): Promise<void> {
  if (!existsSync(from)) return;
  await mkdir(to, { recursive: true });
  for (const name of await readdir(from)) await rename(join(from, name), join(to, name));
}
