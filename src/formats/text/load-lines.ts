import { TextLines } from "./text-lines.ts";

/** Reads the lines of a file one by one, in order. Throws at the first invalid one. */
export interface LineReader {
  line(text: string): void;
  end(): void;
}

/** The bytes of a file, in pieces of any size. */
export type Bytes = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/**
 * Feeds a file to a reader. A file that is not UTF-8 is unreadable as a whole, so the error of a line is reported after the
 * rest of the file was read. `unreadable` makes the error for that, for pieces that fail to arrive, and for a line that is
 * longer than a string can be.
 */
export async function loadLines(
  bytes: Bytes,
  reader: LineReader,
  unreadable: (reason: string) => Error,
): Promise<void> {
  const lines = new TextLines();
  let problem: { readonly error: unknown } | undefined;
  const feed = (texts: readonly string[]) => {
    if (problem) return;
    try {
      for (const text of texts) reader.line(text);
    } catch (error) {
      problem = { error: error instanceof RangeError ? unreadable(reasonOf(error)) : error };
    }
  };
  for await (const piece of readable(bytes, unreadable)) feed(decoded(() => lines.take(piece), unreadable));
  feed(decoded(() => lines.end(), unreadable));
  if (problem) throw problem.error;
  reader.end();
}

function decoded(lines: () => string[], unreadable: (reason: string) => Error): string[] {
  try {
    return lines();
  } catch (error) {
    // Anything else is a line that is longer than a string can be.
    throw unreadable(error instanceof TypeError ? "stream did not contain valid UTF-8" : reasonOf(error));
  }
}

async function* readable(bytes: Bytes, unreadable: (reason: string) => Error): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    throw unreadable(reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
