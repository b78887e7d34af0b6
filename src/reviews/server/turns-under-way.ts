import { setTimeout as sleep } from "node:timers/promises";

/** The time for aborted turns to end their programs. */
const ENDING_MS = 4_000;

/**
 * Turns that are being taken. A host that shuts down aborts them, and with them the programs that review: no other process would
 * end those.
 */
export class TurnsUnderWay {
  readonly #stop = new AbortController();
  readonly #turns = new Set<Promise<unknown>>();

  /** Aborted when they are given up. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  async during<T>(turn: Promise<T>): Promise<T> {
    this.#turns.add(turn);
    try {
      return await turn;
    } finally {
      this.#turns.delete(turn);
    }
  }

  /** Lets them finish for a while first. */
  async close(graceMs: number): Promise<void> {
    await this.#settled(graceMs);
    this.#stop.abort();
    await this.#settled(ENDING_MS);
  }

  async #settled(atMostMs: number): Promise<void> {
    const over = new AbortController();
    const limit = sleep(atMostMs, undefined, { signal: over.signal }).catch(() => {});
    await Promise.race([Promise.allSettled(this.#turns), limit]);
    over.abort();
  }
}
