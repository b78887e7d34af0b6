/** Chunks are not worth a buffer of their own below this size. */
const CAPACITY_MIN = 4096;

const EMPTY = Buffer.alloc(0);

/**
 * Chunks put together in one buffer that grows by doubling. Each chunk kept on its own costs some 200 bytes of memory, however short it
 * is: a body of one megabyte in chunks of one byte took 300 MB. Bytes that come in one chunk are not copied.
 */
export class GrowingBytes {
  readonly #limit: number;
  #buffer: Buffer = EMPTY;
  #size = 0;

  /** @param limit of all bytes: the caller adds no more, and the buffer never grows beyond it */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How much memory is held. */
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
