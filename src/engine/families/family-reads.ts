import { AppError } from "../../protocol/errors.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { Store } from "../../store/port/store.ts";
import type { RunRoom } from "../worker/run-room.ts";

/** Families with relatives of more bytes together are read one at a time. */
const LARGE_FAMILY = 1_048_576;

/** Bytes of ancestors that are written with a run, in sizes of the largest run. */
const RUNS_ABOVE = 2;

/** A relative is large, and the reader has no turn for large families. */
class LargeFamily extends AppError {
  constructor() {
    super("unavailable", { reason: "other large families are being written" });
  }
}

/** The children of a run are too large to be written together. An `AppError`, because stores treat other errors as database errors. */
export class FamilyTooLarge extends AppError {
  /** The run after the write: its children have to be ended one by one. */
  readonly run: Run;

  constructor(run: Run) {
    super("unavailable", { reason: `The runs below run ${run.runId} are too large to be written together` });
    this.run = run;
  }
}

/** Reads the relatives of a run for one commit, and counts their bytes. */
export class FamilyReads {
  readonly #store: Store;
  readonly #room: RunRoom;
  readonly #mayBeLarge: boolean;
  #bytes = 0;

  constructor(store: Store, room: RunRoom, mayBeLarge: boolean) {
    this.#store = store;
    this.#room = room;
    this.#mayBeLarge = mayBeLarge;
  }

  /** `store` is given where the family has writes that are not committed yet. */
  read(tenant: string, runId: string, store = this.#store): Promise<Run | undefined> {
    const beforeLargeRead = async (bytes: number) => {
      if (!this.#mayBeLarge) throw new LargeFamily();
      this.#bytes += bytes;
    };
    return store.readRun({ tenant, beforeLargeRead }, runId);
  }

  /** Whether as much was read as one commit takes: further ancestors do not get changes of status that are only shown. */
  get isFull(): boolean {
    return this.#bytes > this.#room.maxRunBytes * RUNS_ABOVE;
  }

  /** Throws where the children of `run`, so many bytes, cannot be read for this commit. */
  requireRoom(run: Run, bytes: number): void {
    if (bytes > LARGE_FAMILY && !this.#mayBeLarge) throw new LargeFamily();
    if (bytes > LARGE_FAMILY && this.#bytes + bytes > this.#room.maxRunBytes) throw new FamilyTooLarge(run);
  }
}

/**
 * Reads a family and commits its changes. Families with a large relative take turns: each holds its runs until the commit returns, and many
 * that end at the same moment would hold more memory than the process has.
 */
export async function inFamilyTurn<T>(
  { store, room }: { readonly store: Store; readonly room: RunRoom },
  work: (reads: FamilyReads) => Promise<T>,
): Promise<T> {
  try {
    return await work(new FamilyReads(store, room, false));
  } catch (error) {
    if (!(error instanceof LargeFamily)) throw error;
  }
  const done = await room.largeFamily();
  try {
    return await work(new FamilyReads(store, room, true));
  } finally {
    done();
  }
}
