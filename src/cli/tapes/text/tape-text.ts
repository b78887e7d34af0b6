import { readTape } from "../../../formats/tapes/read-tape.ts";
import { type Progress, watchedBytes } from "../files/file-bytes.ts";

/** The text of a tape, once it is known to be one: what is wrong with it is said of the file, and nothing is sent. */
export async function tapeText(path: string, io: Progress): Promise<string> {
  const pieces: Uint8Array[] = [];
  async function* kept() {
    for await (const piece of watchedBytes(path, io)) {
      pieces.push(piece);
      yield piece;
    }
  }
  await readTape(path, kept(), () => {});
  return Buffer.concat(pieces).toString("utf8");
}
