import { setImmediate as turn } from "node:timers/promises";

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

/** In the place of a tenant, for work of the host itself. No tenant is called so. */
export const OF_HOST = "\0host";
/** The same for work that belongs to a tenant whose name is not known where it waits. */
export const OF_SOME_TENANT = "";

/** Work that waits. Tenants take turns, one item each, so that a flood of one delays its own; items of one tenant keep their order. */
export class TenantLine<T> {
  /** In the order of their turns. */
  readonly #byTenant = new Map<string, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(tenant: string, item: T): void {
    const items = this.#byTenant.get(tenant);
    if (items === undefined) this.#byTenant.set(tenant, [item]);
    else items.push(item);
    this.#size += 1;
  }

  /** The next item, which is taken out, of a tenant that may have its turn now. */
  take(mayHaveTurn: (tenant: string) => boolean = () => true): T | undefined {
    for (const [tenant, items] of this.#byTenant) {
      const [item] = items;
      if (item === undefined || !mayHaveTurn(tenant)) continue;
      this.#byTenant.delete(tenant);
      items.shift();
      if (items.length > 0) this.#byTenant.set(tenant, items);
      this.#size -= 1;
      return item;
    }
    return undefined;
  }

  /** Takes out an item that waits no longer. */
  remove(tenant: string, item: T): void {
    const items = this.#byTenant.get(tenant);
    const at = items?.indexOf(item) ?? -1;
    if (items === undefined || at === -1) return;
    items.splice(at, 1);
    if (items.length === 0) this.#byTenant.delete(tenant);
    this.#size -= 1;
  }
}
