import type { IncomingMessage } from "node:http";
import { getHeapStatistics } from "node:v8";
import { AppError } from "../../protocol/errors.ts";

export interface TapeRoomSettings {
  readonly maxTapeBytes: number;
  readonly maxRequestBodyBytes: number;
  /** The bytes that all of them may hold together. */
  readonly totalBytes?: number;
  /** The kind of file, for the error message. */
  readonly what?: string;
}

/** A tape takes several times its size in memory while it is read, checked and cleaned; so many of the largest fit at once. */
const LARGEST_AT_ONCE = 2;

/** The text of a tape takes up to six times its size while it is imported, and another one waits meanwhile: at most three quarters of the heap together. */
const TAPES_PER_HEAP = 16;

/** The largest tape that a heap has room for: one that does not fit would end the process. */
export function tapeBytesFor(maxTapeBytes: number, heapBytes = getHeapStatistics().heap_size_limit): number {
  return Math.min(maxTapeBytes, Math.floor(heapBytes / TAPES_PER_HEAP));
}

/** Bounds the memory of all requests that carry whole files. Files no larger than other requests may be are always admitted. */
export class TapeRoom {
  readonly #settings: TapeRoomSettings;
  #free: number;

  constructor(settings: TapeRoomSettings) {
    this.#settings = settings;
    this.#free = Math.max(settings.maxTapeBytes, settings.totalBytes ?? settings.maxTapeBytes * LARGEST_AT_ONCE);
  }

  /** Throws `unavailable` before the body is read when there is no room for it. */
  async during<T>({ headers }: Pick<IncomingMessage, "headers">, work: () => Promise<T>): Promise<T> {
    const bytes = this.#bytesOf(headers["content-length"]);
    if (bytes > this.#free)
      throw new AppError("unavailable", { reason: `Other ${this.#settings.what ?? "tapes"} are being taken in` });
    this.#free -= bytes;
    try {
      return await work();
    } finally {
      this.#free += bytes;
    }
  }

  /** A body without a declared length counts as the longest. */
  #bytesOf(declared: string | undefined): number {
    const { maxTapeBytes, maxRequestBodyBytes } = this.#settings;
    const bytes = declared === undefined ? maxTapeBytes : Number(declared);
    if (bytes <= maxRequestBodyBytes) return 0;
    return Math.min(bytes, maxTapeBytes);
  }
}

/** A request for a review takes about eight times its size in its thread; all together a quarter of the heap at most. */
const REVIEWS_PER_HEAP = 32;

export function reviewRoom(
  { maxReviewBytes, maxTapeBytes, maxRequestBodyBytes }: TapeRoomSettings & { readonly maxReviewBytes: number },
  heapBytes = getHeapStatistics().heap_size_limit,
): TapeRoom {
  const totalBytes = Math.min(maxTapeBytes * LARGEST_AT_ONCE, Math.floor(heapBytes / REVIEWS_PER_HEAP));
  return new TapeRoom({ maxTapeBytes: maxReviewBytes, maxRequestBodyBytes, totalBytes, what: "reviews" });
}

/** A pack takes little more than its size, for a moment; all together a sixteenth of the heap, and at least two of the largest. */
export function packRoom(
  { maxPackBytes, maxRequestBodyBytes }: Omit<TapeRoomSettings, "maxTapeBytes"> & { readonly maxPackBytes: number },
  heapBytes = getHeapStatistics().heap_size_limit,
): TapeRoom {
  const totalBytes = Math.max(maxPackBytes * LARGEST_AT_ONCE, Math.floor(heapBytes / TAPES_PER_HEAP));
  return new TapeRoom({ maxTapeBytes: maxPackBytes, maxRequestBodyBytes, totalBytes, what: "packs" });
}
