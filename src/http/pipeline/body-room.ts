import { getHeapStatistics } from "node:v8";
import { ownTurn } from "../../engine/worker/pauses.ts";
import { AppError } from "../../protocol/errors.ts";

/** A smaller body takes no room. */
const SMALL_BODY = 16 * 1024;
/** The part of the heap that the bodies of all requests may take together; the bytes themselves are outside of the heap. */
const PER_HEAP = 4;
/** The part of the room that one tenant may take: slow requests of one tenant must not exclude all others. */
const TENANT_PART = 3 / 4;

/** Bytes that are free, and bytes that each tenant holds. */
class SharedBytes {
  readonly total: number;
  readonly #held = new Map<string, number>();
  #free: number;

  constructor(total: number) {
    this.total = total;
    this.#free = total;
  }

  get free(): number {
    return this.#free;
  }

  heldBy(tenant: string): number {
    return this.#held.get(tenant) ?? 0;
  }

  /** Whether the tenant stays within its part with so many bytes more. */
  isWithinPart(tenant: string, bytes: number): boolean {
    return this.heldBy(tenant) + bytes <= this.total * TENANT_PART;
  }

  hold(tenant: string, bytes: number): void {
    this.#free -= bytes;
    const held = this.heldBy(tenant) + bytes;
    if (held === 0) this.#held.delete(tenant);
    else this.#held.set(tenant, held);
  }
}

/** So many of the largest bodies find room, also where the heap is small. */
const LARGEST_AT_ONCE = 4;

/** The room of one body that is arriving. */
export interface Arrival {
  /** Sets the number of bytes that the body holds. Throws `unavailable` when there is no room for them. */
  readonly hold: (bytes: number) => void;
  readonly release: () => void;
}

export interface ArrivalRoomSettings {
  /** The largest body of any request. */
  readonly largestBytes: number;
  readonly heapBytes?: number;
}

/**
 * Bounds the memory of all bodies that are arriving, by the bytes received and not by the length declared: a slow sender keeps no
 * more room from others than it fills.
 */
export class ArrivalRoom {
  readonly #bytes: SharedBytes;

  constructor({ largestBytes, heapBytes = getHeapStatistics().heap_size_limit }: ArrivalRoomSettings) {
    this.#bytes = new SharedBytes(Math.max(Math.floor(heapBytes / PER_HEAP), largestBytes * LARGEST_AT_ONCE));
  }

  /** @param tenant undefined for callers without a key, who share one part */
  arrival(tenant = ""): Arrival {
    let held = 0;
    const take = (bytes: number) => {
      this.#bytes.hold(tenant, bytes - held);
      held = bytes;
    };
    return {
      hold: (bytes) => {
        if (bytes < SMALL_BODY || bytes === held) return;
        const more = bytes - held;
        if (more > this.#bytes.free || !this.#bytes.isWithinPart(tenant, more))
          throw new AppError("unavailable", { reason: "Other large requests are on their way" });
        take(bytes);
      },
      release: () => take(0),
    };
  }
}

/** Bytes of small bodies that are read in one turn of the event loop: some milliseconds of work. */
const SMALL_BODIES = 64 * 1024;
/** A body is held as text, as a value, as the events and the row made of it, and as the message to the writer. */
const HELD_PER_BYTE = 8;
const WAIT_MS = 5000;

export interface BodyRoomSettings {
  readonly totalBytes?: number;
  readonly waitMs?: number;
}

interface Waiting {
  readonly tenant: string;
  readonly bytes: number;
  /** Waiting bodies are admitted by round; each tenant has one in each. */
  readonly round: number;
  readonly admit: () => void;
}

/**
 * Bounds the memory of all bodies from their arrival to the end of their requests: each body is within its limit, but a hundred at
 * once would take more memory than a host has. Bodies that are arriving are not counted, so a slow sender keeps no room from
 * others. Tenants take turns: a flood of one delays its own requests.
 */
export class BodyRoom {
  readonly #bytes: SharedBytes;
  readonly #waitMs: number;
  #line: Waiting[] = [];
  #round = 0;
  /** Bytes of small bodies that came in during this turn of the event loop. */
  #small = 0;

  constructor({ totalBytes, waitMs = WAIT_MS }: BodyRoomSettings = {}) {
    this.#bytes = new SharedBytes(totalBytes ?? Math.floor(getHeapStatistics().heap_size_limit / PER_HEAP));
    this.#waitMs = waitMs;
  }

  /**
   * Resolves with the release, for each tenant in the order of its calls, and for each body in its own turn of the event loop, so
   * that bodies that arrive together are not read together. Throws `unavailable` when there is no room in time.
   * @param tenant undefined for callers without a key, who share one turn
   */
  async take(bytes: number, tenant = ""): Promise<() => void> {
    if (bytes < SMALL_BODY) {
      await this.#takeSmall(bytes);
      return () => {};
    }
    const wanted = Math.min(bytes * HELD_PER_BYTE, this.#bytes.total);
    if (this.#line.length > 0 || !this.#fits(tenant, wanted)) await this.#wait(tenant, wanted);
    else this.#bytes.hold(tenant, wanted);
    await ownTurn();
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#bytes.hold(tenant, -wanted);
      this.#serve();
    };
  }

  /** Small bodies are read at once, while those of one turn of the event loop are few. */
  async #takeSmall(bytes: number): Promise<void> {
    if (this.#small === 0) {
      setImmediate(() => {
        this.#small = 0;
      });
    }
    this.#small += bytes;
    if (this.#small > SMALL_BODIES) await ownTurn();
  }

  /** Resolves when the bytes are held for the tenant. */
  #wait(tenant: string, bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = setTimeout(() => {
        this.#line = this.#line.filter((one) => one !== waiting);
        reject(new AppError("unavailable", { reason: "Other large requests are being taken in" }));
        this.#serve();
      }, this.#waitMs);
      const admit = () => {
        clearTimeout(giveUp);
        resolve();
      };
      const last = this.#line.findLast((one) => one.tenant === tenant)?.round ?? 0;
      const waiting: Waiting = { tenant, bytes, round: Math.max(this.#round, last) + 1, admit };
      const before = this.#line.findLastIndex(({ round }) => round <= waiting.round);
      this.#line.splice(before + 1, 0, waiting);
      this.#serve();
    });
  }

  /** A body that waits for free room blocks all behind it; one that waits for others of its tenant blocks only that tenant. */
  #serve(): void {
    for (let i = 0; i < this.#line.length; ) {
      const next = this.#line[i];
      if (next === undefined) return;
      if (!this.#isWithinPart(next.tenant, next.bytes)) {
        i += 1;
        continue;
      }
      if (next.bytes > this.#bytes.free) return;
      this.#line.splice(i, 1);
      this.#round = Math.max(this.#round, next.round);
      this.#bytes.hold(next.tenant, next.bytes);
      next.admit();
    }
  }

  #fits(tenant: string, bytes: number): boolean {
    return bytes <= this.#bytes.free && this.#isWithinPart(tenant, bytes);
  }

  /** A body larger than the part of its tenant is admitted when the tenant holds no other. */
  #isWithinPart(tenant: string, bytes: number): boolean {
    return this.#bytes.heldBy(tenant) === 0 || this.#bytes.isWithinPart(tenant, bytes);
  }
}
