import type { Store } from "../../store/port/store.ts";

/**
 * Notifies the followers of a run that it may have new events. Each follower is also notified at a slow interval, because a notification of
 * the store may be lost; each at its own time, so that they do not all read at once.
 */
export class RunChanges {
  readonly #followers = new Map<string, Set<() => void>>();
  readonly #rereadMs: number;
  readonly #stopListening: () => void;
  #closed = false;

  constructor(store: Pick<Store, "onChange">, rereadMs: number) {
    this.#rereadMs = rereadMs;
    this.#stopListening = store.onChange(({ runIds }) => {
      for (const runId of runIds === "all" ? [...this.#followers.keys()] : runIds) this.#notify(runId);
    });
  }

  /** Returns what ends the following. */
  follow(runId: string, changed: () => void): () => void {
    const followers = this.#followers.get(runId) ?? new Set();
    this.#followers.set(runId, followers.add(changed));
    const timer = setInterval(changed, this.#rereadMs).unref();
    return () => {
      clearInterval(timer);
      followers.delete(changed);
      if (followers.size === 0 && this.#followers.get(runId) === followers) this.#followers.delete(runId);
    };
  }

  /** Reads at every change of the run until `done`, `stop` or the end of the process. Returns the last result. */
  async until<T>(runId: string, stop: AbortSignal, read: () => Promise<T>, done: (answer: T) => boolean): Promise<T> {
    let isDue = false;
    let wake = () => {};
    const changed = () => {
      isDue = true;
      wake();
    };
    const unfollow = this.follow(runId, changed);
    stop.addEventListener("abort", changed);
    try {
      for (;;) {
        // Before the read: changes during it are read in the next round.
        isDue = false;
        const stopped = stop.aborted || this.#closed;
        const answer = await read();
        if (stopped || done(answer)) return answer;
        if (!isDue) await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      stop.removeEventListener("abort", changed);
      unfollow();
    }
  }

  /** Each waiter is notified once, then returns. */
  close(): void {
    this.#closed = true;
    this.#stopListening();
    for (const runId of [...this.#followers.keys()]) this.#notify(runId);
  }

  #notify(runId: string): void {
    for (const changed of [...(this.#followers.get(runId) ?? [])]) changed();
  }
}
