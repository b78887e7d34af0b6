import type { Store } from "../../store/port/store.ts";

/**
 * Tells those who follow a run that it may have new events. A follower that hears nothing is told at a slow interval
 * all the same, because the store's own word may be lost; each at its own time, so that they do not read all at once.
 */
export class RunChanges {
  readonly #followers = new Map<string, Set<() => void>>();
  readonly #rereadMs: number;
  readonly #stopListening: () => void;
  #closed = false;

  constructor(store: Pick<Store, "onChange">, rereadMs: number) {
    this.#rereadMs = rereadMs;
    this.#stopListening = store.onChange(({ runIds }) => {
      for (const runId of runIds === "all" ? [...this.#followers.keys()] : runIds) this.#tell(runId);
    });
  }

  /** Returns what ends the following. */
  follow(runId: string, told: () => void): () => void {
    const followers = this.#followers.get(runId) ?? new Set();
    this.#followers.set(runId, followers.add(told));
    const timer = setInterval(told, this.#rereadMs).unref();
    return () => {
      clearInterval(timer);
      followers.delete(told);
      if (followers.size === 0 && this.#followers.get(runId) === followers) this.#followers.delete(runId);
    };
  }

  /** Reads again whenever the run changed, until the answer will do or it is time to stop. Gives the last answer. */
  async until<T>(runId: string, stop: AbortSignal, read: () => Promise<T>, done: (answer: T) => boolean): Promise<T> {
    let told = false;
    let wake = () => {};
    const tell = () => {
      told = true;
      wake();
    };
    const unfollow = this.follow(runId, tell);
    stop.addEventListener("abort", tell);
    try {
      for (;;) {
        // Before the read: what changes during it is read next time round.
        told = false;
        const stopped = stop.aborted || this.#closed;
        const answer = await read();
        if (stopped || done(answer)) return answer;
        if (!told) await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      stop.removeEventListener("abort", tell);
      unfollow();
    }
  }

  /** Whoever waits is told once more and does not wait again. */
  close(): void {
    this.#closed = true;
    this.#stopListening();
    for (const runId of [...this.#followers.keys()]) this.#tell(runId);
  }

  #tell(runId: string): void {
    for (const told of [...(this.#followers.get(runId) ?? [])]) told();
  }
}
