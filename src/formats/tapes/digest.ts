import { createBLAKE3, type IHasher } from "hash-wasm";
import { printHashedRecord, type TapeRecord } from "./tape.ts";

const GATHERED_BYTES = 1 << 16;
const OPEN_BRACE = new TextEncoder().encode("{");
const LINE_FEED = new TextEncoder().encode("\n");

/**
 * The digest of a tape: BLAKE3 over its records as the reader understood them. White space, the order of members and the header do not
 * change it. Records are added in the order of the file.
 */
export class TapeDigest {
  readonly #hasher: IHasher;
  readonly #encoder = new TextEncoder();
  /** Bytes are collected before they are hashed: a call per record would take longer than the hashing. */
  readonly #gathered = new Uint8Array(GATHERED_BYTES);
  #used = 0;

  private constructor(hasher: IHasher) {
    this.#hasher = hasher;
  }

  static async start(): Promise<TapeDigest> {
    return new TapeDigest((await createBLAKE3()).init());
  }

  add(record: TapeRecord): void {
    this.#gather(this.#encoder.encode(`${printHashedRecord(record)}\n`));
  }

  /** Adds a record from its bytes in the file, which equal the printed ones, without their opening brace. */
  addPrinted(bytes: Uint8Array, start: number, end: number): void {
    this.#gather(OPEN_BRACE);
    this.#gather(bytes.subarray(start, end));
    this.#gather(LINE_FEED);
  }

  /** 64 lower-case hexadecimal digits. Nothing can be added afterwards. */
  hex(): string {
    this.#flush();
    return this.#hasher.digest("hex");
  }

  #gather(bytes: Uint8Array): void {
    if (this.#used + bytes.length > GATHERED_BYTES) this.#flush();
    if (bytes.length > GATHERED_BYTES) {
      this.#hasher.update(bytes);
    } else {
      this.#gathered.set(bytes, this.#used);
      this.#used += bytes.length;
    }
  }

  #flush(): void {
    this.#hasher.update(this.#gathered.subarray(0, this.#used));
    this.#used = 0;
  }
}

export async function digestOf(records: Iterable<TapeRecord>): Promise<string> {
  const digest = await TapeDigest.start();
  for (const record of records) digest.add(record);
  return digest.hex();
}

/** The name of a body: its BLAKE3 in lower-case hexadecimal. */
export async function bodyHash(bytes: Uint8Array): Promise<string> {
  return (await BodyHasher.start()).hash(bytes);
}

/** Names many bodies, one after the other, with one hasher. */
export class BodyHasher {
  readonly #hasher: IHasher;

  private constructor(hasher: IHasher) {
    this.#hasher = hasher;
  }

  static async start(): Promise<BodyHasher> {
    return new BodyHasher(await createBLAKE3());
  }

  hash(body: string | Uint8Array): string {
    return this.#hasher.init().update(body).digest("hex");
  }
}

/** Hashes and counts bytes that arrive in pieces. */
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
