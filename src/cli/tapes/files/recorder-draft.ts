import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { writing } from "../../files/write-file.ts";
import { moveAll } from "./move-all.ts";
import { bodiesOf } from "./tape-paths.ts";

/** Where a recorder writes, so that no tape of before is taken for its own and none is lost to a recorder that fails. */
export interface TapeDraft {
  readonly tape: string;
  /** Puts the tape and its bodies where they are wanted, in place of what is there. */
  keep(): Promise<void>;
  /** Removes what was not kept. */
  discard(): Promise<void>;
}

/** Beside the wanted file, so that it can be renamed; in the folder for temporary files when the tape is not wanted. */
export async function makeDraft(wanted: string | undefined): Promise<TapeDraft> {
  const folder = await draftFolder(wanted);
  const tape = join(folder, basename(wanted ?? "run.tape"));
  return {
    tape,
    keep: async () => {
      if (wanted === undefined) return;
      await writing(wanted, async () => {
        // Bodies of another tape do not stay beside this one, also when it has none.
        const bodies = { ...(existsSync(bodiesOf(tape)) ? { from: bodiesOf(tape) } : {}), to: bodiesOf(wanted) };
        // The tape comes last: whoever finds it finds its bodies.
        moveAll([bodies, { from: tape, to: wanted }], folder);
      });
    },
    discard: () => rm(folder, { recursive: true, force: true }),
  };
}

function draftFolder(wanted: string | undefined): Promise<string> {
  if (wanted === undefined) return mkdtemp(join(tmpdir(), "assay-tape-"));
  return writing(wanted, async () => {
    await mkdir(dirname(wanted), { recursive: true });
    return mkdtemp(`${wanted}.`);
  });
}
