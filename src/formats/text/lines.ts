/** Unicode White_Space. `String.prototype.trim` also takes U+FEFF and leaves U+0085. */
const SPACE = "\\u0009-\\u000d\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const AT_START = new RegExp(`^[${SPACE}]+`);
const AT_END = new RegExp(`[${SPACE}]+$`);

export function trimSpace(text: string): string {
  // Most lines end without white space, and a pattern that is anchored at the end tries every place of a long line.
  const last = text.charCodeAt(text.length - 1);
  const start = text.replace(AT_START, "");
  return last > 0x20 && last < 0x7f ? start : trimEnd(start);
}

function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && AT_END.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/**
 * The lines of a UTF-8 file that arrives in pieces: a line ends at LF, with one CR directly before it, and at no other character. A
 * byte-order mark is content. Throws a `TypeError` at the first bytes that are not UTF-8.
 */
export class TextLines {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  /** Parts of the line that has not ended yet. */
  #parts: string[] = [];

  /** The lines that this piece completes. */
  take(bytes: Uint8Array): string[] {
    return this.#cut(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The text after the last LF, if there is any. */
  end(): string[] {
    const lines = this.#cut(this.#decoder.decode());
    const last = this.#parts.join("");
    this.#parts = [];
    return last === "" ? lines : [...lines, last];
  }

  #cut(text: string): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      const part = text.slice(start, end);
      lines.push(withoutReturn(this.#parts.length === 0 ? part : this.#parts.join("") + part));
      this.#parts = [];
      start = end + 1;
    }
    if (start < text.length) this.#parts.push(text.slice(start));
    return lines;
  }
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

/** Reads the lines of a file one by one, in order. Throws at the first invalid one. */
export interface LineReader {
  line(text: string): void;
  end(): void;
}

/** The bytes of a file, in pieces of any size. */
export type Bytes = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/**
 * Feeds a file to a reader. A file that is not UTF-8 is unreadable as a whole, so the error of a line is reported after the rest of the
 * file was read. `unreadable` makes the error for such a file, for pieces that fail to arrive, and for a line that is longer than a string
 * can be.
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
  for await (const piece of arriving(bytes, unreadable)) feed(decoded(() => lines.take(piece), unreadable));
  feed(decoded(() => lines.end(), unreadable));
  if (problem) throw problem.error;
  reader.end();
}

function decoded(lines: () => string[], unreadable: (reason: string) => Error): string[] {
  try {
    return lines();
  } catch (error) {
    // Any other error is about a line that is longer than a string can be.
    throw unreadable(error instanceof TypeError ? "stream did not contain valid UTF-8" : reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** Reads whole lines of a file, in order. Throws at the first invalid one. */
export interface LinesReader {
  /** The lines in `bytes` before `end`, each with its line feed. The bytes are UTF-8; the buffer is reused for the next lines. */
  lines(bytes: Uint8Array, end: number): void;
  end(): void;
}

export interface LoadOptions {
  /** A faster check for UTF-8, where the platform has one. */
  readonly isUtf8?: (bytes: Uint8Array) => boolean;
}

/**
 * Feeds a file to a reader of bytes. A file that is not UTF-8 is unreadable as a whole, so the error of a line is reported after the rest
 * of the file was read. `unreadable` makes the error for such a file, and for pieces that fail to arrive.
 */
export async function loadWindows(
  bytes: Bytes,
  reader: LinesReader,
  unreadable: (reason: string) => Error,
  { isUtf8 = decodes }: LoadOptions = {},
): Promise<void> {
  const window = new LineWindow();
  let problem: { readonly error: unknown } | undefined;
  const feed = (end: number) => {
    if (end === 0) return;
    if (!isUtf8(window.bytes.subarray(0, end))) throw unreadable("stream did not contain valid UTF-8");
    try {
      if (!problem) reader.lines(window.bytes, end);
    } catch (error) {
      if (error instanceof LineTooLong) throw unreadable(error.message);
      problem = { error: error instanceof RangeError ? unreadable(reasonOf(error)) : error };
    }
    window.drop(end);
  };
  const taken = (piece: Uint8Array) => {
    try {
      return window.take(piece);
    } catch (error) {
      throw unreadable(reasonOf(error));
    }
  };
  for await (const piece of arriving(bytes, unreadable)) feed(taken(piece));
  feed(window.end());
  if (problem) throw problem.error;
  reader.end();
}

/** Bytes that have arrived and were not used yet, copied to one buffer, so that a line is never in two. */
class LineWindow {
  bytes = new Uint8Array(1 << 16);
  #used = 0;

  /** Returns the end of the whole lines. */
  take(piece: Uint8Array): number {
    this.#makeRoom(piece.length);
    this.bytes.set(piece, this.#used);
    const lastFeed = piece.lastIndexOf(LINE_FEED);
    const end = lastFeed < 0 ? 0 : this.#used + lastFeed + 1;
    this.#used += piece.length;
    return end;
  }

  /** The last line gets the line feed that it may lack. */
  end(): number {
    if (this.#used === 0) return 0;
    this.#makeRoom(1);
    this.bytes[this.#used++] = LINE_FEED;
    return this.#used;
  }

  drop(end: number): void {
    this.bytes.copyWithin(0, end, this.#used);
    this.#used -= end;
  }

  #makeRoom(length: number): void {
    if (this.#used + length <= this.bytes.length) return;
    const more = new Uint8Array(Math.max(this.#used + length, this.bytes.length * 2));
    more.set(this.bytes.subarray(0, this.#used));
    this.bytes = more;
  }
}

const SLICE_BYTES = 1 << 20;

/** In slices, since the longest string may be shorter than a line. */
function decodes(bytes: Uint8Array): boolean {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
      decoder.decode(bytes.subarray(at, at + SLICE_BYTES), { stream: true });
    }
    decoder.decode();
    return true;
  } catch {
    return false;
  }
}

/** A line that is longer than a string can be. */
class LineTooLong extends Error {
  override readonly name = "LineTooLong";
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The text of the line that begins at `start` and whose line feed is at `feed`. */
export function lineText(bytes: Uint8Array, start: number, feed: number): string {
  const end = feed > start && bytes[feed - 1] === CARRIAGE_RETURN ? feed - 1 : feed;
  try {
    return decoder.decode(bytes.subarray(start, end));
  } catch (error) {
    throw new LineTooLong(reasonOf(error));
  }
}

async function* arriving(bytes: Bytes, unreadable: (reason: string) => Error): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    throw unreadable(reasonOf(error));
  }
}
