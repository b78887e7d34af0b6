import type { Store } from "../store/port/store.ts";

interface KeptStore {
  /** The open store; a new one after a test that closed it. */
  store(): Promise<Store>;
  /** Opens the same data once more, after a close. */
  reopen(): Promise<Store>;
  /** Closes every store but an open one that the next test can use. */
  done(): Promise<void>;
  close(): Promise<void>;
}

/** A store that stays open from test to test, because opening one takes longer than most tests. `empty` removes the rows of a test. */
export function keptStore(open: () => Promise<Store>, empty: () => Promise<void>): KeptStore {
  let kept: Store | undefined;
  const opened = new Set<Store>();
  const openOne = async (): Promise<Store> => {
    const store = await open();
    const watched: Store = {
      ...store,
      close: () => {
        opened.delete(watched);
        if (kept === watched) kept = undefined;
        return store.close();
      },
    };
    opened.add(watched);
    return watched;
  };
  const closeBut = (spared: Store | undefined) =>
    Promise.all([...opened].filter((store) => store !== spared).map((store) => store.close()));

  return {
    store: async () => {
      kept ??= await openOne();
      return kept;
    },
    reopen: openOne,
    done: async () => {
      await closeBut(kept);
      await empty();
    },
    close: async () => void (await closeBut(undefined)),
  };
}
