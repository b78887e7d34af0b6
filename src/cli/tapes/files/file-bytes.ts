import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";

const PIECE_BYTES = 1 << 20;

/** The bytes of a file as they are. Whoever reads them says in its own words when that fails. */
export function fileBytes(path: string): AsyncIterable<Uint8Array> {
  return createReadStream(path, { highWaterMark: PIECE_BYTES });
}

export interface Progress {
  progress(text: string): void;
}

/** The same, and tells how far it has come. */
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
/** A bar that is wider than the terminal would leave a line behind each time. */
const NAME_MAX = 40;

function bar(path: string, share: number): string {
  const full = Math.min(BAR_WIDTH, Math.round(share * BAR_WIDTH));
  const name = path.length <= NAME_MAX ? path : `…${path.slice(1 - NAME_MAX)}`;
  return `${name} [${"#".repeat(full)}${"-".repeat(BAR_WIDTH - full)}] ${Math.min(100, Math.floor(share * 100))} %`;
}
