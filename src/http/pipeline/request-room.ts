import type { ServerResponse } from "node:http";
import type { RunRoom } from "../../engine/worker/run-room.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";

/** How long a client that does not read its response keeps its room: afterwards the response waits outside of the heap. */
const SENDING_MS = 30_000;

/** An `AppError`, because stores report all other errors as errors of the database. */
class LargeRun extends AppError {
  constructor() {
    super("unavailable", { reason: "other large runs are being read" });
  }
}

const refuseLarge = async (): Promise<void> => {
  throw new LargeRun();
};

/** The result of a read of a run; undefined, without reading it, where the run is large. */
export async function unlessLarge<T>(
  caller: Caller,
  read: (caller: Caller) => Promise<T>,
): Promise<{ readonly found: T } | undefined> {
  try {
    return { found: await read({ ...caller, beforeLargeRead: refuseLarge }) };
  } catch (error) {
    if (error instanceof LargeRun) return undefined;
    throw error;
  }
}

/** The room that one request takes for the large runs it reads. Small runs take none. */
export class RequestRoom implements Required<Pick<Visibility, "beforeLargeRead">> {
  readonly #room: RunRoom;
  #releases: (() => void)[] = [];

  constructor(room: RunRoom) {
    this.#room = room;
  }

  /** Throws `unavailable` when others hold the room for too long. */
  readonly beforeLargeRead = async (bytes: number): Promise<void> => {
    this.#releases.push(await this.#room.read(bytes));
  };

  releaseAfter(response: ServerResponse): void {
    if (this.#releases.length === 0) return;
    if (response.writableFinished || response.destroyed) {
      this.release();
      return;
    }
    const timer = setTimeout(() => this.release(), SENDING_MS);
    timer.unref();
    response.once("close", () => {
      clearTimeout(timer);
      this.release();
    });
  }

  release(): void {
    for (const release of this.#releases) release();
    this.#releases = [];
  }
}
