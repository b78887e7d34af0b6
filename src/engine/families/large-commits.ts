import { AppError } from "../../protocol/errors.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { RunWrite, Store } from "../../store/port/store.ts";
import { isSmall } from "../runs/run-size.ts";
import type { RunRoom } from "../worker/run-room.ts";

/** About how many bytes of JSON the head of a run takes. */
const HEAD_BYTES = 2048;

/** The state of a run is larger than this host loads. An `AppError`, because stores treat other errors as database errors. */
class TooLargeToLoad extends AppError {
  constructor(runId: string, bytes: number, limitBytes: number) {
    super("run_too_large", { runId, bytes, limitBytes });
  }
}

/** A large run is read by a reader without room of its own: such runs are loaded one at a time. */
class OutOfTurn extends AppError {
  constructor() {
    super("unavailable", { reason: "other large runs are being read" });
  }
}

async function refuseOutOfTurn(): Promise<void> {
  throw new OutOfTurn();
}

/**
 * The store with large units committed one at a time, of all workers, requests and families. A run whose state is too large to load is read as
 * its head (`stateOmitted`), and can only be written with the event that drops its state: otherwise the head would replace the run.
 */
export function withLargeCommitsInTurn(store: Store, room: RunRoom): Store {
  const { smallBytes, maxLoadBytes: statesUpTo } = room;
  const isLarge = ({ run, events }: RunWrite) => !isSmall(run, smallBytes) || !isSmall(events, smallBytes);
  const readHead = keptHeads(store, room);
  return {
    ...store,
    readHead,
    async readRun(visible, runId) {
      const makeRoom = visible.beforeLargeRead ?? refuseOutOfTurn;
      const beforeLargeRead = async (bytes: number) => {
        if (bytes > statesUpTo) throw new TooLargeToLoad(runId, bytes, statesUpTo);
        await makeRoom(bytes);
      };
      try {
        return await store.readRun({ ...visible, beforeLargeRead }, runId);
      } catch (error) {
        if (error instanceof OutOfTurn) return room.loadLarge(() => store.readRun(visible, runId));
        if (error instanceof TooLargeToLoad) return readHead(visible, runId);
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

const HEADS_MAX = 100;

/** Heads are read one at a time: the database parses the whole state, and SQLite cannot write meanwhile. Heads of ended runs are cached. */
function keptHeads(store: Store, room: RunRoom): Store["readHead"] {
  const kept = new Map<string, Run>();
  const keptFor = async ({ tenant, workspace }: Visibility, runId: string): Promise<Run | undefined> => {
    const head = kept.get(runId);
    if (head === undefined) return undefined;
    const [now] = await store.runOutlines(tenant, [runId]);
    const isSame = now?.status === head.status && now.stateBytes === head.stateOmitted?.bytes;
    if (isSame && (workspace === undefined || workspace === head.owner.workspace)) return head;
    kept.delete(runId);
    return undefined;
  };
  return async (visible, runId) => {
    const known = await keptFor(visible, runId);
    if (known !== undefined) return known;
    return room.loadLarge(async () => {
      const head = (await keptFor(visible, runId)) ?? (await store.readHead(visible, runId));
      if (head === undefined || !isTerminal(head.status)) return head;
      if (kept.size >= HEADS_MAX) kept.clear();
      kept.set(runId, head);
      return head;
    });
  };
}

function requireState({ runId, run: { stateOmitted }, events }: RunWrite, limitBytes: number): void {
  if (stateOmitted === undefined || events.some(({ type }) => type === "assay.state.dropped")) return;
  throw new AppError("run_too_large", { runId, bytes: stateOmitted.bytes, limitBytes });
}
