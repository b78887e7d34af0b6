import type { RunWrite, Store } from "../store/store.ts";
import type { RunRoom } from "./run-room.ts";
import { sizeOf } from "./run-size.ts";

/** The store with large units committed one at a time, by whichever worker, request or family of runs they come from. */
export function withLargeCommitsInTurn(store: Store, room: RunRoom): Store {
  const isLarge = ({ run, events }: RunWrite) => {
    const { smallBytes } = room;
    return sizeOf(run, smallBytes) > smallBytes || sizeOf(events, smallBytes) > smallBytes;
  };
  return {
    ...store,
    commit(unit) {
      if (!unit.runs?.some(isLarge)) return store.commit(unit);
      return room.commitLarge(() => store.commit({ ...unit, large: true }));
    },
  };
}
