import type { Bytes } from "../text/load-lines.ts";
import { BLOCK_BYTES, paddingOf, type TarEntry } from "./tar-header.ts";

/** Why an archive cannot be read. */
export class BadArchive extends Error {
  override readonly name = "BadArchive";
}

/**
 * Reads an archive from its first byte to its last, one file at a time. Throws `BadArchive` for anything its headers may not be, and
 * holds no more than a piece of the archive.
 */
export class TarReader<E extends TarEntry = TarEntry> {
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #header: (block: Uint8Array) => E | string;
  #rest: Uint8Array = new Uint8Array();

  /** `header` decides which entries are allowed. */
  constructor(bytes: Bytes, header: (block: Uint8Array) => E | string) {
    this.#pieces = iterate(bytes);
    this.#header = header;
  }

  /** The next file, whose content must then be read; nothing at the end of the archive, where nothing but zeros may follow. */
  async next(): Promise<E | undefined> {
    const block = await this.#exactly(BLOCK_BYTES);
    if (!isZero(block)) return checked(this.#header(block));
    if (!isZero(await this.#exactly(BLOCK_BYTES))) throw new BadArchive("something follows its end");
    for (
      let piece = await this.#some(Number.MAX_SAFE_INTEGER);
      piece;
      piece = await this.#some(Number.MAX_SAFE_INTEGER)
    ) {
      if (!isZero(piece)) throw new BadArchive("something follows its end");
    }
    return undefined;
  }

  /** The bytes of the file that `next` gave. */
  async *content({ size }: TarEntry): AsyncGenerator<Uint8Array> {
    for (let left = size; left > 0; ) {
      const piece = await this.#some(left);
      if (piece === undefined) throw truncated();
      left -= piece.length;
      yield piece;
    }
    if (!isZero(await this.#exactly(paddingOf(size)))) throw new BadArchive("a file is not filled up with zeros");
  }

  async #exactly(length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length; ) {
      const piece = await this.#some(length - at);
      if (piece === undefined) throw truncated();
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  }

  /** What is there, at most so much; nothing at the end. */
  async #some(most: number): Promise<Uint8Array | undefined> {
    while (this.#rest.length === 0) {
      const { value, done } = await this.#pieces.next();
      if (done) return undefined;
      this.#rest = value;
    }
    const piece = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }
}

async function* iterate(bytes: Bytes): AsyncGenerator<Uint8Array> {
  yield* bytes;
}

function checked<E extends TarEntry>(entry: E | string): E {
  if (typeof entry === "string") throw new BadArchive(entry);
  return entry;
}

function truncated(): BadArchive {
  return new BadArchive("it ends too early");
}

const ZEROS = Buffer.alloc(64 * 1024);

/** Compared as blocks of memory: an archive may end in megabytes of zeros. */
function isZero(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at += ZEROS.length) {
    const piece = bytes.subarray(at, at + ZEROS.length);
    if (!ZEROS.subarray(0, piece.length).equals(piece)) return false;
  }
  return true;
}
