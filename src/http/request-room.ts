import type { ServerResponse } from "node:http";
import type { RunRoom } from "../engine/run-room.ts";
import type { Visibility } from "../protocol/identity.ts";

/** A client that does not take its answer keeps its room for so long: afterwards the answer waits outside of the heap. */
const SENDING_MS = 30_000;

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
