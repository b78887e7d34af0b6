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
