/** Apart, so that a flood of made-up keys pushes out no real one. */
const FOUND_MAX = 10_000;
const MISSING_MAX = 1_000;

interface ShortCacheOptions<V> {
  readonly keepMs: number;
  readonly nowMs: () => number;
  readonly load: (key: string) => Promise<V | undefined>;
}

/** Remembers what was found, and what was not, for a moment. Callers that ask at the same time share one look-up. */
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

  /** What was found and still counts, for callers that must not wait; undefined also when nothing was there. */
  peek(key: string): V | undefined {
    const kept = this.#found.get(key);
    return kept && this.#isFresh(kept) ? kept.value : undefined;
  }

  /** What is being looked up right now is not kept either: it may be from before the change. */
  clear(): void {
    this.#generation += 1;
    for (const map of [this.#found, this.#missing, this.#loading]) map.clear();
  }

  /** Nothing from the future counts: a clock that was set back must not prolong what is kept. */
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
