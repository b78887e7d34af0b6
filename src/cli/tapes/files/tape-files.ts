import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { readTape } from "../../../formats/tapes/read-tape.ts";
import type { TapeHeader } from "../../../formats/tapes/tape.ts";

/** The sidecar and the bodies of a tape are next to it; their names are its whole name with a suffix. */
export function sidecarOf(tape: string): string {
  return `${tape}.annotations.jsonl`;
}

export function bodiesOf(tape: string): string {
  return `${tape}.cas`;
}

const PIECE_BYTES = 1 << 20;

/** The bytes of a file. Errors are those of the system; the reader of a format turns them into its own. */
export function fileBytes(path: string): AsyncIterable<Uint8Array> {
  return createReadStream(path, { highWaterMark: PIECE_BYTES });
}

export interface Progress {
  progress(text: string): void;
}

/** The bytes of a file, with a progress bar for long ones. */
export async function* watchedBytes(path: string, io: Progress): AsyncGenerator<Uint8Array> {
  const { size } = await stat(path);
  let read = 0;
  let shown = "";
  for await (const piece of fileBytes(path)) {
    yield piece;
    read += piece.length;
    if (size <= PIECE_BYTES) continue;
    const text = bar(path, read / size);
    if (text !== shown) io.progress(text);
    shown = text;
  }
}

const BAR_WIDTH = 24;
/** Long names are cut, because a bar that is wider than the terminal could not be replaced. */
const NAME_MAX = 40;

function bar(path: string, share: number): string {
  const full = Math.min(BAR_WIDTH, Math.round(share * BAR_WIDTH));
  const name = path.length <= NAME_MAX ? path : `…${path.slice(1 - NAME_MAX)}`;
  return `${name} [${"#".repeat(full)}${"-".repeat(BAR_WIDTH - full)}] ${Math.min(100, Math.floor(share * 100))} %`;
}

const LF = 0x0a;

/** The header of a tape, read without the rest. Throws `FileError`, also when there is no such file. */
export function tapeHeader(path: string): Promise<TapeHeader> {
  return readTape(path, firstLine(path), () => {});
}

/** Whether a file exists. One that cannot be examined counts as existing: reading it reports the error. */
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
