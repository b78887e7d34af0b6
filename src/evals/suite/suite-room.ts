import { getHeapStatistics } from "node:v8";
import { ByteRoom } from "../../engine/worker/run-room.ts";

/** Suites of evaluations under way take this part of the heap at most. */
const HEAP_PARTS = 6;
/** A tenant takes at most this part of the room: its slow evaluations leave the rest to others. */
const TENANT_PART = 1 / 2;
/** A suite of texts takes twice the bytes of its JSON, one of many small values four times. */
const HELD_PER_BYTE = 3;
/** Smaller suites are free: the number of evaluations under way is bounded. */
const SMALL_BYTES = 262_144;

interface Held {
  holders: number;
  readonly taken: Promise<() => void>;
}

/**
 * Memory for the suites of evaluations under way, which hold theirs until they end, and an agent may take hours. Evaluations of one suite share
 * it; further ones wait where there is no room.
 */
export class SuiteRoom {
  readonly #total: number;
  readonly #room: ByteRoom;
  readonly #tenants = new Map<string, ByteRoom>();
  readonly #held = new Map<string, Held>();

  constructor(totalBytes = Math.floor(getHeapStatistics().heap_size_limit / HEAP_PARTS)) {
    this.#total = totalBytes;
    this.#room = new ByteRoom(totalBytes);
  }

  /** Resolves with the release when there is room for a suite of so many bytes; rejects once the signal is aborted. */
  async hold(tenant: string, suite: string, bytes: number, signal: AbortSignal): Promise<() => void> {
    if (bytes <= SMALL_BYTES) return () => {};
    const key = JSON.stringify([tenant, suite]);
    const held = this.#held.get(key) ?? { holders: 0, taken: this.#take(tenant, bytes * HELD_PER_BYTE) };
    this.#held.set(key, held);
    held.holders += 1;
    let released = false;
    const release = () => {
      if (released) return;
      released = true;
      held.holders -= 1;
      if (held.holders > 0) return;
      this.#held.delete(key);
      void held.taken.then((free) => free());
    };
    try {
      await untilAborted(held.taken, signal);
    } catch (error) {
      release();
      throw error;
    }
    return release;
  }

  async #take(tenant: string, bytes: number): Promise<() => void> {
    const own = this.#tenants.get(tenant) ?? new ByteRoom(Math.floor(this.#total * TENANT_PART));
    this.#tenants.set(tenant, own);
    const releaseOwn = await own.take(bytes);
    const release = await this.#room.take(Math.min(bytes, this.#total * TENANT_PART));
    return () => {
      release();
      releaseOwn();
      if (own.used === 0 && own.waiting === 0 && this.#tenants.get(tenant) === own) this.#tenants.delete(tenant);
    };
  }
}

function untilAborted(taken: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    taken.then(
      () => {
        signal.removeEventListener("abort", abort);
        resolve();
      },
      (error) => reject(error),
    );
  });
}

let shared: SuiteRoom | undefined;

export function suiteRoom(): SuiteRoom {
  shared ??= new SuiteRoom();
  return shared;
}
