import { createBLAKE3, type IHasher } from "hash-wasm";
import { printHashedRecord, type TapeRecord } from "./tape.ts";

/**
 * The digest of a tape: BLAKE3 over its records as the reader understood them, so that white space, the order of members and the
 * header have no part in it. Records are added in the order of the file.
 */
export class TapeDigest {
  readonly #hasher: IHasher;
  readonly #encoder = new TextEncoder();

  private constructor(hasher: IHasher) {
    this.#hasher = hasher;
  }

  static async start(): Promise<TapeDigest> {
    return new TapeDigest((await createBLAKE3()).init());
  }

  add(record: TapeRecord): void {
    this.#hasher.update(this.#encoder.encode(`${printHashedRecord(record)}\n`));
  }

  /** 64 lower-case hexadecimal digits. Nothing can be added afterwards. */
  hex(): string {
    return this.#hasher.digest("hex");
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
