import type { Change } from "../port/store.ts";

/** Those who want to hear of changes. */
export class Listeners {
  readonly #listeners = new Set<(change: Change) => void>();

  /** Returns how to leave. */
  add(listener: (change: Change) => void): () => void {
    // A function of its own, so that one who listens twice also leaves twice.
    const own = (change: Change): void => listener(change);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  tell(change: Change): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        // A bug of the listener. The commit it was notified of is acknowledged all the same.
        setImmediate(() => {
          throw error;
        });
      }
    }
  }
}
