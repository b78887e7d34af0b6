import { createBLAKE3, type IHasher } from "hash-wasm";

/** Names many bodies, one after the other. */
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
