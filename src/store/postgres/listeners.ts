import type { Change } from "../port/store.ts";

/** Listeners of this process, notified of every change. */
export class Listeners {
  readonly #listeners = new Set<(change: Change) => void>();

  /** Returns a function that removes the listener. */
  add(listener: (change: Change) => void): () => void {
    // A function of its own, so that a listener that is added twice is removed one by one.
    const own = (change: Change): void => listener(change);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  notify(change: Change): void {
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
