import { setImmediate as turn } from "node:timers/promises";
import { OF_HOST, TenantLine } from "./tenant-line.ts";

/** The outcome of one item of a batch: its result, or the error that its caller gets. */
export type Settled<R> = { readonly result: R } | { readonly error: unknown };

/** So that a burst neither holds up a request behind thousands of others nor makes one huge transaction. */
const ITEMS_MAX = 500;
const SIZE_MAX = 16_000_000;

export interface GroupOptions<T> {
  /** Of a batch, all but its first item. */
  readonly sizeMax?: number;
  readonly tenantOf?: (item: T) => string;
}

interface Waiting<T, R> {
  readonly item: T;
  resolve(result: R): void;
  reject(error: unknown): void;
}

/**
 * Group commit: while one batch is on its way to the disk the next one gathers, and it goes out whole as soon as the
 * first has returned. There is no timer: waiting 2 to 5 ms for more items made every caller 3 to 6 times slower. Tenants take turns in
 * what goes out, so that large or many items of one do not keep those of others waiting.
 */
export class GroupCommit<T, R> {
  readonly #commit: (items: readonly T[]) => Promise<Settled<R>[]>;
  readonly #sizeOf: (item: T) => number;
  readonly #tenantOf: (item: T) => string;
  readonly #sizeMax: number;
  readonly #line = new TenantLine<Waiting<T, R>>();
  /** Taken out of the line, and too large for the batch that was put together then. */
  #next: Waiting<T, R> | undefined;
  #drained: Promise<void> | undefined;

  /** `commit` is never called again before its last call settled. */
  constructor(
    commit: (items: readonly T[]) => Promise<Settled<R>[]>,
    sizeOf: (item: T) => number = () => 0,
    { sizeMax = SIZE_MAX, tenantOf = () => OF_HOST }: GroupOptions<T> = {},
  ) {
    this.#commit = commit;
    this.#sizeOf = sizeOf;
    this.#tenantOf = tenantOf;
    this.#sizeMax = sizeMax;
  }

  add(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#line.add(this.#tenantOf(item), { item, resolve, reject });
      this.#drained ??= this.#drain();
    });
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.#drained !== undefined) await this.#drained;
  }

  async #drain(): Promise<void> {
    while (this.#line.size > 0 || this.#next !== undefined) {
      // One turn of the event loop, so that callers released by the last commit are part of the next one.
      await turn();
      await this.#commitTogether(this.#batch());
    }
    this.#drained = undefined;
  }

  /** At least one, however large it is. */
  #batch(): Waiting<T, R>[] {
    const batch: Waiting<T, R>[] = [];
    let size = 0;
    while (batch.length < ITEMS_MAX) {
      const next = this.#next ?? this.#line.take();
      this.#next = undefined;
      if (next === undefined) return batch;
      size += this.#sizeOf(next.item);
      if (batch.length > 0 && size > this.#sizeMax) {
        this.#next = next;
        return batch;
      }
      batch.push(next);
    }
    return batch;
  }

  async #commitTogether(batch: readonly Waiting<T, R>[]): Promise<void> {
    let settled: Settled<R>[];
    try {
      settled = await this.#commit(batch.map(({ item }) => item));
    } catch (error) {
      settled = batch.map(() => ({ error }));
    }
    for (const [index, { resolve, reject }] of batch.entries()) {
      const one = settled[index] ?? { error: new Error("the batch has fewer results than items") };
      if ("error" in one) reject(one.error);
      else resolve(one.result);
    }
  }
}
