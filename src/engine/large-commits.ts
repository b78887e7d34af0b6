import type { RunWrite, Store } from "../store/store.ts";
import type { RunRoom } from "./run-room.ts";
import { isSmall } from "./run-size.ts";

/**
 * The store with large units committed one at a time, by whichever worker, request or family of runs they come from, and without reads of
 * states that would end the process.
 */
export function withLargeCommitsInTurn(store: Store, room: RunRoom): Store {
  const { smallBytes } = room;
  const isLarge = ({ run, events }: RunWrite) => !isSmall(run, smallBytes) || !isSmall(events, smallBytes);
  return {
    ...store,
    readRun(visible, runId) {
      const beforeLargeRead = async (bytes: number) => {
        room.checkLoad(`run ${runId}`, bytes);
        await visible.beforeLargeRead?.(bytes);
      };
      return store.readRun({ ...visible, beforeLargeRead }, runId);
    },
    commit(unit) {
      if (!unit.runs?.some(isLarge)) return store.commit(unit);
      return room.commitLarge(() => store.commit({ ...unit, large: true }));
    },
  };
}
