import { getHeapStatistics } from "node:v8";
import { ownTurn } from "../../engine/worker/pauses.ts";
import { AppError } from "../../protocol/errors.ts";

/** A body of fewer bytes takes no room. */
const SMALL_BODY = 16 * 1024;
/** What small bodies of one turn of the event loop may have together: some milliseconds of work. */
const SMALL_BODIES = 64 * 1024;
/** A body is held as text, as a value, as the events and the row that are made of it, and as what is sent to the writer. */
const HELD_PER_BYTE = 8;
/** The part of the heap that bodies in hand may take together. */
const PER_HEAP = 4;
/** The part of the room that bodies of one tenant may take: slow requests of one must not keep all others out. */
const TENANT_PART = 3 / 4;
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
 * Bounds what the bodies of all requests hold together, from when they have arrived until they are dealt with: each is within its
 * limit, and some hundred at once took more memory than a host has. A body that is on its way is not counted, so a slow sender keeps
 * no room from others. Tenants take turns: a flood of one delays its own requests.
 */
export class BodyRoom {
  readonly #total: number;
  readonly #waitMs: number;
  readonly #held = new Map<string, number>();
  #free: number;
  #line: Waiting[] = [];
  #round = 0;
  /** Bytes of small bodies that came in during this turn of the event loop. */
  #small = 0;

  constructor({ totalBytes, waitMs = WAIT_MS }: BodyRoomSettings = {}) {
    this.#total = totalBytes ?? Math.floor(getHeapStatistics().heap_size_limit / PER_HEAP);
    this.#free = this.#total;
    this.#waitMs = waitMs;
  }

  /**
   * Resolves with the release, for each tenant in the order of its calls, and for each body in a turn of the event loop of its own: bodies
   * that arrive together would be read together. Throws `unavailable` when there is no room in time.
   * @param tenant undefined for callers without a key, who share one turn
   */
  async take(bytes: number, tenant = ""): Promise<() => void> {
    if (bytes < SMALL_BODY) {
      await this.#beside(bytes);
      return () => {};
    }
    const wanted = Math.min(bytes * HELD_PER_BYTE, this.#total);
    if (this.#line.length > 0 || !this.#fits(tenant, wanted)) await this.#wait(tenant, wanted);
    else this.#hold(tenant, wanted);
    await ownTurn();
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#hold(tenant, -wanted);
      this.#serve();
    };
  }

  /** Small bodies are read at once, as long as those of one turn of the event loop are few. */
  async #beside(bytes: number): Promise<void> {
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

  /** A body that must wait for room lets none pass it; one that waits for others of its tenant lets other tenants pass. */
  #serve(): void {
    for (let i = 0; i < this.#line.length; ) {
      const next = this.#line[i];
      if (next === undefined) return;
      if (!this.#isWithinPart(next.tenant, next.bytes)) {
        i += 1;
        continue;
      }
      if (next.bytes > this.#free) return;
      this.#line.splice(i, 1);
      this.#round = Math.max(this.#round, next.round);
      this.#hold(next.tenant, next.bytes);
      next.admit();
    }
  }

  #fits(tenant: string, bytes: number): boolean {
    return bytes <= this.#free && this.#isWithinPart(tenant, bytes);
  }

  /** A body larger than the part of its tenant comes in when no other of the tenant is there. */
  #isWithinPart(tenant: string, bytes: number): boolean {
    const held = this.#held.get(tenant) ?? 0;
    return held === 0 || held + bytes <= this.#total * TENANT_PART;
  }

  #hold(tenant: string, bytes: number): void {
    this.#free -= bytes;
    const held = (this.#held.get(tenant) ?? 0) + bytes;
    if (held === 0) this.#held.delete(tenant);
    else this.#held.set(tenant, held);
  }
}
