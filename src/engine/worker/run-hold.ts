import type { RunRoom } from "./run-room.ts";

/** The share of the host's room that one executing run has: the right to take a large turn, and the bytes it keeps between turns. */
export class RunHold {
  readonly #room: RunRoom;
  #endLargeTurn: (() => void) | undefined;
  #keptBytes = 0;
  #releases: (() => void)[] = [];

  constructor(room: RunRoom, largeTurn?: () => void) {
    this.#room = room;
    this.#endLargeTurn = largeTurn;
  }

  get mayBeLarge(): boolean {
    return this.#endLargeTurn !== undefined;
  }

  async beginLargeTurn(): Promise<void> {
    this.#endLargeTurn ??= await this.#room.largeTurn();
  }

  endLargeTurn(): void {
    this.#endLargeTurn?.();
    this.#endLargeTurn = undefined;
  }

  /** Whether there is room to keep so many bytes while nodes execute. Small runs need none. */
  keep(bytes: number): boolean {
    const more = bytes - this.#keptBytes;
    if (bytes <= this.#room.smallBytes || more <= 0) return true;
    const release = this.#room.holdNow(more);
    if (release === undefined) return false;
    this.#releases.push(release);
    this.#keptBytes = bytes;
    return true;
  }

  /** Releases everything, then waits for so many bytes: a waiting run holds nothing that others wait for. */
  async waitFor(bytes: number): Promise<void> {
    this.release();
    this.#releases.push(await this.#room.hold(bytes));
    this.#keptBytes = bytes;
  }

  release(): void {
    this.endLargeTurn();
    for (const release of this.#releases) release();
    this.#releases = [];
    this.#keptBytes = 0;
  }
}
