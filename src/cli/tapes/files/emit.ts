import { inPieces, type Texts, writeOutput } from "../../files/write-file.ts";
import type { Io } from "../../output/io.ts";

/** Writes a result that is whole: to the file, or to standard output when none is named. */
export async function emit(content: Texts, output: string | undefined, io: Io): Promise<void> {
  if (output !== undefined) {
    await writeOutput(output, content);
    return;
  }
  for await (const piece of inPieces(content)) {
    // Nobody reads any further.
    if (io.outClosed.aborted) return;
    await io.write(piece);
  }
}
