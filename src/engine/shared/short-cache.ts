import { setImmediate as turn } from "node:timers/promises";

/** Found and missing keys are cached separately, so that a flood of unknown keys does not evict known ones. */
const FOUND_MAX = 10_000;
const MISSING_MAX = 1_000;

interface ShortCacheOptions<V> {
  readonly keepMs: number;
  readonly nowMs: () => number;
  readonly load: (key: string) => Promise<V | undefined>;
}

/** Caches results, also missing ones, for a short time. Simultaneous callers share one look-up. */
export class ShortCache<V> {
  readonly #options: ShortCacheOptions<V>;
  readonly #found = new Map<string, Kept<V>>();
  readonly #missing = new Map<string, Kept<undefined>>();
  readonly #loading = new Map<string, Promise<V | undefined>>();
  #generation = 0;

  constructor(options: ShortCacheOptions<V>) {
    this.#options = options;
  }

  async get(key: string): Promise<V | undefined> {
    const kept = this.#found.get(key) ?? this.#missing.get(key);
    if (kept && this.#isFresh(kept)) return kept.value;
    return this.#loading.get(key) ?? this.#load(key);
  }

  /** The cached value, for callers that must not wait; undefined also where it is known to be missing. */
  peek(key: string): V | undefined {
    const kept = this.#found.get(key);
    return kept && this.#isFresh(kept) ? kept.value : undefined;
  }

  /** Clears the cache. Results of look-ups under way are not cached either: they may be from before the change. */
  clear(): void {
    this.#generation += 1;
    for (const map of [this.#found, this.#missing, this.#loading]) map.clear();
  }

  /** Whether a value is fresh. A value from the future is not: a clock that was set back must not prolong it. */
  #isFresh({ atMs }: Kept<unknown>): boolean {
    const ageMs = this.#options.nowMs() - atMs;
    return ageMs >= 0 && ageMs < this.#options.keepMs;
  }

  #load(key: string): Promise<V | undefined> {
    const generation = this.#generation;
    const atMs = this.#options.nowMs();
    const loading = this.#options
      .load(key)
      .then((value) => {
        if (generation === this.#generation) this.#keep(key, value, atMs);
        return value;
      })
      .finally(() => {
        if (this.#loading.get(key) === loading) this.#loading.delete(key);
      });
    this.#loading.set(key, loading);
    return loading;
  }

  #keep(key: string, value: V | undefined, atMs: number): void {
    this.#found.delete(key);
    this.#missing.delete(key);
    if (value === undefined) put(this.#missing, key, { value, atMs }, MISSING_MAX);
    else put(this.#found, key, { value, atMs }, FOUND_MAX);
  }
}

interface Kept<V> {
  readonly value: V;
  readonly atMs: number;
}

function put<K, V>(map: Map<K, V>, key: K, value: V, max: number): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}

/**
 * A read that callers in the same turn of the event loop share. It begins after all of them have called, so each sees all acknowledged writes, as if
 * it had read alone; nothing is cached for the next turn. Under load that is one query for many requests (docs/performance.md).
 */
export function sharedReads<N extends readonly string[], V>(
  read: (...names: N) => Promise<V>,
): (...names: N) => Promise<V> {
  const gathering = new Map<string, Promise<V>>();
  return (...names) => {
    const key = JSON.stringify(names);
    const joined = gathering.get(key);
    if (joined) return joined;
    const reading = turn().then(() => {
      gathering.delete(key);
      return read(...names);
    });
    gathering.set(key, reading);
    return reading;
  };
}
