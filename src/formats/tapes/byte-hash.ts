import { createBLAKE3, type IHasher } from "hash-wasm";

/** BLAKE3 over bytes that arrive in pieces, and how many there were. */
export class ByteHash {
  readonly #hasher: IHasher;
  #size = 0;

  private constructor(hasher: IHasher) {
    this.#hasher = hasher;
  }

  static async start(): Promise<ByteHash> {
    return new ByteHash((await createBLAKE3()).init());
  }

  get size(): number {
    return this.#size;
  }

  /** Yields each piece after counting it. */
  async *through(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of bytes) {
      this.#hasher.update(piece);
      this.#size += piece.length;
      yield piece;
    }
  }

  /** 64 lower-case hexadecimal digits. Nothing can be added afterwards. */
  hex(): string {
    return this.#hasher.digest("hex");
  }
}
