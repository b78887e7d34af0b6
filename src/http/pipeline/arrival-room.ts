import { getHeapStatistics } from "node:v8";
import { AppError } from "../../protocol/errors.ts";

/** A body of fewer bytes takes no room. */
const SMALL_BODY = 16 * 1024;
/** The part of the heap that bodies on their way may take together; the bytes themselves are outside of it. */
const PER_HEAP = 4;
/** So many of the largest bodies find room, also where the heap is small. */
const LARGEST_AT_ONCE = 4;
/** The part of the room that bodies of one tenant may take. */
const TENANT_PART = 3 / 4;

/** The room of one body. */
export interface Arrival {
  /** Counts the body with so many bytes from now on. Throws `unavailable` when there is no room for them. */
  readonly hold: (bytes: number) => void;
  readonly release: () => void;
}

/**
 * Bounds what the bodies of all requests hold together while they are on their way, by what has come and not by what is declared: a
 * slow sender keeps no more room from others than it fills.
 */
export class ArrivalRoom {
  readonly #total: number;
  readonly #held = new Map<string, number>();
  #free: number;

  constructor({ largestBytes, heapBytes = getHeapStatistics().heap_size_limit }: ArrivalRoomSettings) {
    this.#total = Math.max(Math.floor(heapBytes / PER_HEAP), largestBytes * LARGEST_AT_ONCE);
    this.#free = this.#total;
  }

  /** @param tenant undefined for callers without a key, who share one part */
  arrival(tenant = ""): Arrival {
    let held = 0;
    const take = (bytes: number) => {
      this.#count(tenant, bytes - held);
      held = bytes;
    };
    return {
      hold: (bytes) => {
        if (bytes < SMALL_BODY || bytes === held) return;
        const more = bytes - held;
        const ofTenant = (this.#held.get(tenant) ?? 0) + more;
        if (more > this.#free || ofTenant > this.#total * TENANT_PART)
          throw new AppError("unavailable", { reason: "Other large requests are on their way" });
        take(bytes);
      },
      release: () => take(0),
    };
  }

  #count(tenant: string, change: number): void {
    this.#free -= change;
    const held = (this.#held.get(tenant) ?? 0) + change;
    if (held === 0) this.#held.delete(tenant);
    else this.#held.set(tenant, held);
  }
}

export interface ArrivalRoomSettings {
  /** The largest body of any request. */
  readonly largestBytes: number;
  readonly heapBytes?: number;
}
