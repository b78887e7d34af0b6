import { createBLAKE3, type IHasher } from "hash-wasm";
import { printHashedRecord, type TapeRecord } from "./tape.ts";

const GATHERED_BYTES = 1 << 16;
const OPEN_BRACE = new TextEncoder().encode("{");
const LINE_FEED = new TextEncoder().encode("\n");

/**
 * The digest of a tape: BLAKE3 over its records as the reader understood them, so that white space, the order of members and the
 * header have no part in it. Records are added in the order of the file.
 */
export class TapeDigest {
  readonly #hasher: IHasher;
  readonly #encoder = new TextEncoder();
  /** Gathered before they are hashed, since a call for every record would take longer than the hashing. */
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

  /** The same for a record of which a file has the very bytes that would be printed, without their opening brace. */
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
  return (await createBLAKE3()).init().update(bytes).digest("hex");
}
