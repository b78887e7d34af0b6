/** Smaller chunks do not get a buffer of their own. */
const CAPACITY_MIN = 4096;

const EMPTY = Buffer.alloc(0);

/**
 * Chunks put together in one buffer that grows by doubling. A chunk kept on its own takes some 200 bytes of memory, however short it is: a
 * body of one megabyte in chunks of one byte took 300 MB. Bytes that come in one chunk are not copied.
 */
export class GrowingBytes {
  readonly #limit: number;
  #buffer: Buffer = EMPTY;
  #size = 0;

  /** @param limit of all bytes: the caller adds no more, and the buffer never grows beyond it */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The size of the memory that is held. */
  get capacity(): number {
    return this.#buffer.length;
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): Buffer {
    return this.#size === this.#buffer.length ? this.#buffer : this.#buffer.subarray(0, this.#size);
  }

  add(chunk: Buffer): void {
    const size = this.#size + chunk.length;
    if (this.#size === 0) this.#buffer = chunk;
    else {
      if (size > this.#buffer.length) this.#grow(size);
      chunk.copy(this.#buffer, this.#size);
    }
    this.#size = size;
  }

  #grow(size: number): void {
    const capacity = Math.max(size, Math.min(this.#limit, Math.max(CAPACITY_MIN, this.#buffer.length * 2)));
    const grown = Buffer.allocUnsafeSlow(capacity);
    this.#buffer.copy(grown, 0, 0, this.#size);
    this.#buffer = grown;
  }
}

const NEWLINE = 10;

/**
 * The lines of a stream of bytes, without their newlines. Not `node:readline`, which also ends lines at characters that JSON allows inside
 * a text. Bytes behind the last newline are a line too.
 */
export async function* byteLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      parts.push(chunk.subarray(start, end));
      yield parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}
