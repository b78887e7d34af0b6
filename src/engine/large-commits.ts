import { AppError } from "../protocol/errors.ts";
import type { RunWrite, Store } from "../store/store.ts";
import type { RunRoom } from "./run-room.ts";
import { isSmall } from "./run-size.ts";

/** About how many bytes of JSON the head of a run takes. */
const HEAD_BYTES = 2048;

/** The state of a run is larger than this host loads. An `AppError`: stores take others for errors of the database. */
class TooLargeToLoad extends AppError {
  constructor(runId: string, bytes: number, limitBytes: number) {
    super("run_too_large", { runId, bytes, limitBytes });
  }
}

/**
 * The store with large units committed one at a time, by whichever worker, request or family of runs they come from. A run whose state
 * would end the process is read as its head (`stateOmitted`), and only ever written with the event that drops its state: a head that
 * was decided on as if it were the run would replace it.
 */
export function withLargeCommitsInTurn(store: Store, room: RunRoom): Store {
  const { smallBytes, maxLoadBytes: statesUpTo } = room;
  const isLarge = ({ run, events }: RunWrite) => !isSmall(run, smallBytes) || !isSmall(events, smallBytes);
  return {
    ...store,
    async readRun(visible, runId) {
      const beforeLargeRead = async (bytes: number) => {
        if (bytes > statesUpTo) throw new TooLargeToLoad(runId, bytes, statesUpTo);
        await visible.beforeLargeRead?.(bytes);
      };
      try {
        return await store.readRun({ ...visible, beforeLargeRead }, runId);
      } catch (error) {
        if (error instanceof TooLargeToLoad) return store.readHead(visible, runId);
        throw error;
      }
    },
    listRuns: (visible, query) => store.listRuns(visible, { statesUpTo, ...query }),
    activeDescendants: (visible, query) => store.activeDescendants(visible, { statesUpTo, ...query }),
    async stateBytes(visible, query) {
      const sizes = await store.stateBytes(visible, query);
      return sizes.map((bytes) => (bytes > statesUpTo ? HEAD_BYTES : bytes));
    },
    async commit(unit) {
      for (const write of unit.runs ?? []) requireState(write, statesUpTo);
      if (!unit.runs?.some(isLarge)) return store.commit(unit);
      return room.commitLarge(() => store.commit({ ...unit, large: true }));
    },
  };
}

function requireState({ runId, run: { stateOmitted }, events }: RunWrite, limitBytes: number): void {
  if (stateOmitted === undefined || events.some(({ type }) => type === "assay.state.dropped")) return;
  throw new AppError("run_too_large", { runId, bytes: stateOmitted.bytes, limitBytes });
}
