import { setImmediate as nextTurn } from "node:timers/promises";
import { shownRun } from "../../engine/gates/shown-gates.ts";
import { pauses } from "../../engine/worker/pauses.ts";
import { AppError } from "../../protocol/errors.ts";
import { changesSnapshot, endsRun, type RunEvent } from "../../protocol/events.ts";
import { evolve, type Run } from "../../protocol/runs/run.ts";
import type { Sensitivity } from "../../protocol/runs/snapshot.ts";
import { isLastPage } from "../../store/port/large-rows.ts";
import type { Store, StoredEvent } from "../../store/port/store.ts";
import { CHUNK_BYTES, EventChunk, splitEvents } from "./event-frames.ts";
import type { RunSubscriber } from "./run-subscriber.ts";

const PAGE_ROWS = 256;

/** Node sends the bytes of a write in the next tick: before that, no time has passed that a pause could measure. */
function written(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/**
 * One run followed by this process. New rows are read once and the same buffers are written to every live subscriber.
 * A subscriber becomes live when it has read as far as the feed, and stops being live when its socket is full: then it reads
 * the store itself again. So a slow subscriber does not delay the others.
 */
export class RunFeed {
  readonly runId: string;
  readonly #store: Pick<Store, "readEvents">;
  readonly #report: (error: unknown) => void;
  readonly #live = new Set<RunSubscriber>();
  /** Subscribers whose read failed; they read again at the next notification. */
  readonly #parked = new Set<RunSubscriber>();
  /** The next sequence to read. */
  #next = 0;
  /** Present while a live subscriber streams values. */
  #fold: RunFold | undefined;
  #foldUsers = 0;
  #isDue = false;
  #reading = false;

  constructor(runId: string, store: Pick<Store, "readEvents">, report: (error: unknown) => void) {
    this.runId = runId;
    this.#store = store;
    this.#report = report;
  }

  /** There may be new rows. */
  wake(): void {
    this.#isDue = true;
    const parked = [...this.#parked];
    this.#parked.clear();
    for (const subscriber of parked) subscriber.catchUp();
    void this.#read();
  }

  /**
   * Makes the subscriber live when it has read everything before `position`, with the run at that point if it streams
   * values. False when the feed has read further: the subscriber reads on and joins later.
   */
  join(subscriber: RunSubscriber, position: number, fold?: RunFold): boolean {
    if (position < this.#next) return false;
    if (fold !== undefined && this.#fold !== undefined && position < this.#fold.version) return false;
    if (this.#live.size === 0 && !this.#reading) this.#next = position;
    this.#live.add(subscriber);
    if (fold !== undefined) {
      this.#fold ??= fold;
      this.#foldUsers++;
    }
    // A change that was notified while no subscriber was live may have come after the subscriber's own read.
    void this.#read();
    return true;
  }

  leave(subscriber: RunSubscriber): void {
    this.#parked.delete(subscriber);
    if (!this.#live.delete(subscriber) || !subscriber.wantsSnapshots) return;
    if (--this.#foldUsers === 0) this.#fold = undefined;
  }

  park(subscriber: RunSubscriber): void {
    this.#parked.add(subscriber);
  }

  async #read(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (this.#isDue && this.#live.size > 0) {
        this.#isDue = false;
        const events = await this.#store.readEvents(this.runId, this.#next, PAGE_ROWS);
        await this.#deliver(events);
        if (isLastPage(events, PAGE_ROWS)) continue;
        this.#isDue = true;
        // Other work gets its turn: pages may hold few events that are shown, so that no socket fills.
        await nextTurn();
      }
    } catch (error) {
      this.#isDue = true;
      if (!(error instanceof AppError)) this.#giveUp(error);
    } finally {
      this.#reading = false;
    }
  }

  async #deliver(events: readonly StoredEvent[]): Promise<void> {
    const pause = pauses();
    // Snapshots can be large: they are made one at a time, as the sockets take them.
    for (const part of splitEvents(events, () => (this.#fold === undefined ? CHUNK_BYTES : 0))) {
      const chunk = new EventChunk(part, this.#fold?.apply(part[0]));
      this.#next = chunk.last.sequence + 1;
      for (const subscriber of this.#live) {
        if (!subscriber.take(chunk)) subscriber.lag();
        else if (endsRun(chunk.last.type)) subscriber.finish();
        // Writing to a thousand sockets takes long. Subscribers that join meanwhile have read the chunk themselves.
        await written();
        await pause();
      }
      // The snapshot of a large run takes long to make, however little of it is shown.
      await pause();
    }
  }

  /** An error of the program: it is reported once, and the clients reconnect and resume. */
  #giveUp(error: unknown): void {
    this.#report(error);
    for (const subscriber of [...this.#live]) subscriber.cut();
  }
}

/** A run that is updated event by event, for streams of values. */
export class RunFold {
  readonly #sensitivity: Sensitivity;
  #run: Run;

  constructor(run: Run, sensitivity: Sensitivity) {
    this.#run = run;
    this.#sensitivity = sensitivity;
  }

  get version(): number {
    return this.#run.version;
  }

  /** The response to GET, as text. */
  get snapshot(): string {
    return JSON.stringify(shownRun(this.#run, this.#sensitivity));
  }

  /** Applies the next event, unless the run has it already; returns the new snapshot when the event changes it. */
  apply(event: StoredEvent): string | undefined {
    if (event.sequence < this.#run.version) return undefined;
    this.#run = evolve(this.#run, runEvent(event));
    return changesSnapshot(event.type) ? this.snapshot : undefined;
  }
}

function runEvent({ body, sealed }: StoredEvent): RunEvent {
  const doc = JSON.parse(body) as RunEvent;
  return sealed === undefined ? doc : ({ ...doc, sealed: JSON.parse(sealed) } as RunEvent);
}
