import type { Store, Unit } from "../store/port/store.ts";

export interface DyingStore {
  readonly store: Store;
  readonly died: () => boolean;
}

/** A store whose worker dies at its n-th commit: before that is written, or after it and before anybody knows. */
export function dyingAt(store: Store, n: number, written: boolean): DyingStore {
  let commits = 0;
  const commit = async (unit: Unit) => {
    commits += 1;
    if (commits > n) return new Promise<never>(() => {});
    if (commits < n) return store.commit(unit);
    if (written) await store.commit(unit);
    return new Promise<never>(() => {});
  };
  return { store: { ...store, commit }, died: () => commits >= n };
}
