import { join } from "node:path";
import type { BundleManifest } from "../../../formats/tapes/bundle.ts";
import { refuseExisting } from "../../files/write-file.ts";
import { inDraftFolder } from "./draft-folder.ts";
import { moveAll } from "./move-all.ts";
import { bodiesOf, sidecarOf } from "./tape-paths.ts";

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
  await inDraftFolder(output, output, async (draft) => {
    await fill(draft);
    const moves = names.map((name) => ({ from: join(draft, name), to: join(output, name) }));
    moveAll(moves, draft);
  });
}
