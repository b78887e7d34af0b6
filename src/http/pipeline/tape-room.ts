import type { IncomingMessage } from "node:http";
import { getHeapStatistics } from "node:v8";
import { AppError } from "../../protocol/errors.ts";

export interface TapeRoomSettings {
  readonly maxTapeBytes: number;
  readonly maxRequestBodyBytes: number;
  /** What all of them may hold together. */
  readonly totalBytes?: number;
  /** What takes the room, for the refusal. */
  readonly what?: string;
}

/** While it is read, checked and cleaned, a tape takes several times its size in memory; so many of the largest fit at once. */
const LARGEST_AT_ONCE = 2;

/** While it is taken in, the text of a tape takes up to some six times its size, and another one waits meanwhile: three quarters of the heap together at most. */
const TAPES_PER_HEAP = 16;

/** The largest tape that a heap has room for: one that does not fit would end the process. */
export function tapeBytesFor(maxTapeBytes: number, heapBytes = getHeapStatistics().heap_size_limit): number {
  return Math.min(maxTapeBytes, Math.floor(heapBytes / TAPES_PER_HEAP));
}

/** Bounds what all requests that bring whole files hold together. Those that are no larger than any other request always get in. */
export class TapeRoom {
  readonly #settings: TapeRoomSettings;
  #free: number;

  constructor(settings: TapeRoomSettings) {
    this.#settings = settings;
    this.#free = Math.max(settings.maxTapeBytes, settings.totalBytes ?? settings.maxTapeBytes * LARGEST_AT_ONCE);
  }

  /** Throws `unavailable` before anything of the body is read when there is no room for it. */
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

  /** A body that does not say how long it is counts as the longest. */
  #bytesOf(declared: string | undefined): number {
    const { maxTapeBytes, maxRequestBodyBytes } = this.#settings;
    const bytes = declared === undefined ? maxTapeBytes : Number(declared);
    if (bytes <= maxRequestBodyBytes) return 0;
    return Math.min(bytes, maxTapeBytes);
  }
}

/** In the thread that takes it, a request for a review takes some eight times its size; all together a quarter of the heap at most. */
const REVIEWS_PER_HEAP = 32;

export function reviewRoom(
  { maxReviewBytes, maxTapeBytes, maxRequestBodyBytes }: TapeRoomSettings & { readonly maxReviewBytes: number },
  heapBytes = getHeapStatistics().heap_size_limit,
): TapeRoom {
  const totalBytes = Math.min(maxTapeBytes * LARGEST_AT_ONCE, Math.floor(heapBytes / REVIEWS_PER_HEAP));
  return new TapeRoom({ maxTapeBytes: maxReviewBytes, maxRequestBodyBytes, totalBytes, what: "reviews" });
}

/** A pack takes little more than its size, for a moment; all together a sixteenth of the heap at most, and at least two of the largest. */
export function packRoom(
  { maxPackBytes, maxRequestBodyBytes }: Omit<TapeRoomSettings, "maxTapeBytes"> & { readonly maxPackBytes: number },
  heapBytes = getHeapStatistics().heap_size_limit,
): TapeRoom {
  const totalBytes = Math.max(maxPackBytes * LARGEST_AT_ONCE, Math.floor(heapBytes / TAPES_PER_HEAP));
  return new TapeRoom({ maxTapeBytes: maxPackBytes, maxRequestBodyBytes, totalBytes, what: "packs" });
}
