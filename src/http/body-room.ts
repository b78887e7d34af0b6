import { getHeapStatistics } from "node:v8";
import { ByteRoom } from "../engine/byte-room.ts";
import { AppError } from "../protocol/errors.ts";

/** A body of fewer bytes takes no room. */
const SMALL_BODY = 16 * 1024;
/** A body is held as text, as a value, as the events and the row that are made of it, and as what is sent to the writer. */
const HELD_PER_BYTE = 8;
/** The part of the heap that bodies in hand may take together. */
const PER_HEAP = 4;
const WAIT_MS = 5000;

export interface BodyRoomSettings {
  readonly totalBytes?: number;
  readonly waitMs?: number;
}

/**
 * Bounds what the bodies of all requests hold together, from when they have arrived until they are dealt with: each is within its
 * limit, and some hundred at once took more memory than a host has. A body that is on its way is not counted, so a slow sender keeps
 * no room from others.
 */
export class BodyRoom {
  readonly #bytes: ByteRoom;
  readonly #waitMs: number;

  constructor({ totalBytes, waitMs = WAIT_MS }: BodyRoomSettings = {}) {
    this.#bytes = new ByteRoom(totalBytes ?? Math.floor(getHeapStatistics().heap_size_limit / PER_HEAP));
    this.#waitMs = waitMs;
  }

  /** Resolves with the release, in the order of the calls. Throws `unavailable` when there is no room in time. */
  async take(bytes: number): Promise<() => void> {
    if (bytes < SMALL_BODY) return () => {};
    const release = await this.#bytes.takeWithin(bytes * HELD_PER_BYTE, this.#waitMs);
    if (release === undefined) throw new AppError("unavailable", { reason: "Other large requests are being taken in" });
    return release;
  }
}
