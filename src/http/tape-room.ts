import type { IncomingMessage } from "node:http";
import { AppError } from "../protocol/errors.ts";

export interface TapeRoomSettings {
  readonly maxTapeBytes: number;
  readonly maxRequestBodyBytes: number;
}

/** While it is read, checked and cleaned, a tape takes several times its size in memory; so many of the largest fit at once. */
const LARGEST_AT_ONCE = 2;

/** Bounds what all requests that bring whole files hold together. Those that are no larger than any other request always get in. */
export class TapeRoom {
  readonly #settings: TapeRoomSettings;
  #free: number;

  constructor(settings: TapeRoomSettings) {
    this.#settings = settings;
    this.#free = settings.maxTapeBytes * LARGEST_AT_ONCE;
  }

  /** Throws `unavailable` before anything of the body is read when there is no room for it. */
  async during<T>({ headers }: Pick<IncomingMessage, "headers">, work: () => Promise<T>): Promise<T> {
    const bytes = this.#bytesOf(headers["content-length"]);
    if (bytes > this.#free) throw new AppError("unavailable", { reason: "other tapes are being taken in" });
    this.#free -= bytes;
    try {
      return await work();
    } finally {
      this.#free += bytes;
    }
  }

  /** A body that does not say how long it is counts as the longest. */
  #bytesOf(declared: string | undefined): number {
    const { maxTapeBytes, maxRequestBodyBytes } = this.#settings;
    const bytes = declared === undefined ? maxTapeBytes : Number(declared);
    if (bytes <= maxRequestBodyBytes) return 0;
    return Math.min(bytes, maxTapeBytes);
  }
}
