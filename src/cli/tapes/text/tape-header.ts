import { stat } from "node:fs/promises";
import { readTape } from "../../../formats/tapes/read-tape.ts";
import type { TapeHeader } from "../../../formats/tapes/tape.ts";
import { fileBytes } from "../files/file-bytes.ts";

const LF = 0x0a;

/** The header of a tape without the rest of it; undefined when there is no such file. */
export async function tapeHeaderIfThere(path: string): Promise<TapeHeader | undefined> {
  return (await isThere(path)) ? tapeHeader(path) : undefined;
}

/** Throws `FileError`, also when there is no such file. */
export function tapeHeader(path: string): Promise<TapeHeader> {
  return readTape(path, firstLine(path), () => {});
}

/** One that cannot be looked at is there: reading it says what is wrong. */
export async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENOENT";
  }
}

async function* firstLine(path: string): AsyncGenerator<Uint8Array> {
  for await (const piece of fileBytes(path)) {
    const end = piece.indexOf(LF);
    if (end >= 0) {
      yield piece.subarray(0, end + 1);
      return;
    }
    yield piece;
  }
}
