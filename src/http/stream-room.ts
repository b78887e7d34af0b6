import { AppError } from "../protocol/errors.ts";
import type { StreamSettings } from "./stream-settings.ts";

/** What this process counts over all its streams. */
export interface StreamTally {
  frames: number;
  lagging: number;
}

/** How many streams this process has open, of all kinds together, and whether there is room for one more. */
export class StreamRoom {
  readonly tally: StreamTally = { frames: 0, lagging: 0 };
  readonly #settings: Pick<StreamSettings, "streamsMax" | "streamsPerKeyMax">;
  readonly #openByKey = new Map<string, number>();
  #open = 0;
  #closed = false;

  constructor(settings: Pick<StreamSettings, "streamsMax" | "streamsPerKeyMax">) {
    this.#settings = settings;
  }

  get open(): number {
    return this.#open;
  }

  /** Throws before anything is sent when there is no room or the host is going down. */
  check(keyId: string): void {
    if (this.#closed) throw new AppError("unavailable", { reason: "This host is shutting down" });
    const { streamsMax, streamsPerKeyMax = streamsMax } = this.#settings;
    if (this.#open >= streamsMax) throw tooMany("global", streamsMax);
    if ((this.#openByKey.get(keyId) ?? 0) >= streamsPerKeyMax) throw tooMany("key", streamsPerKeyMax);
  }

  /** Counts a stream; returns what ends that. */
  take(keyId: string): () => void {
    this.#count(keyId, 1);
    return () => this.#count(keyId, -1);
  }

  /** There is no room from now on. */
  close(): void {
    this.#closed = true;
  }

  #count(keyId: string, change: 1 | -1): void {
    this.#open += change;
    const ofKey = (this.#openByKey.get(keyId) ?? 0) + change;
    if (ofKey > 0) this.#openByKey.set(keyId, ofKey);
    else this.#openByKey.delete(keyId);
  }
}

const RETRY_AFTER_MS = 1000;

function tooMany(scope: "global" | "key", limit: number): AppError {
  return new AppError("rate_limited", { retryAfterMs: RETRY_AFTER_MS, scope, limit });
}
