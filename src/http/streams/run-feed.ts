import { setImmediate as nextTurn } from "node:timers/promises";
import { shownRun } from "../../engine/gates/shown-gates.ts";
import { endsLog } from "../../engine/runs/read-log.ts";
import { pauses } from "../../engine/worker/pauses.ts";
import { AppError } from "../../protocol/errors.ts";
import { changesSnapshot, endsRun, type RunEvent } from "../../protocol/events.ts";
import { evolve, type Run } from "../../protocol/runs/run.ts";
import type { Sensitivity } from "../../protocol/runs/snapshot.ts";
import type { Store, StoredEvent } from "../../store/port/store.ts";
import { CHUNK_BYTES, EventChunk, splitEvents } from "./event-chunk.ts";
import type { Subscriber } from "./subscriber.ts";

const PAGE_ROWS = 256;

/** Node puts off what is written to a response until the next tick: before that, no time has passed that a pause could go by. */
function written(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/**
 * One run followed by this process. New rows are read once and the same buffers are written to every live subscriber.
 * A subscriber becomes live when it has read for itself as far as the feed has, and stops being live when its socket
 * is full: then it reads for itself again. So a slow one costs the others nothing.
 */
export class RunFeed {
  readonly runId: string;
  readonly #store: Pick<Store, "readEvents">;
  readonly #report: (error: unknown) => void;
  readonly #live = new Set<Subscriber>();
  /** Those whose read failed; they try again when the feed is told of a change. */
  readonly #parked = new Set<Subscriber>();
  /** The next sequence to read. */
  #next = 0;
  /** Kept while a live subscriber streams values. */
  #fold: RunFold | undefined;
  #foldUsers = 0;
  #told = false;
  #reading = false;

  constructor(runId: string, store: Pick<Store, "readEvents">, report: (error: unknown) => void) {
    this.runId = runId;
    this.#store = store;
    this.#report = report;
  }

  /** There may be new rows. */
  wake(): void {
    this.#told = true;
    const parked = [...this.#parked];
    this.#parked.clear();
    for (const subscriber of parked) subscriber.catchUp();
    void this.#read();
  }

  /**
   * Makes the subscriber live when it has read everything before `position`, with the run at that point if it streams
   * values. False when the feed is further already: the subscriber reads on and asks again.
   */
  join(subscriber: Subscriber, position: number, fold?: RunFold): boolean {
    if (position < this.#next) return false;
    if (fold !== undefined && this.#fold !== undefined && position < this.#fold.version) return false;
    if (this.#live.size === 0 && !this.#reading) this.#next = position;
    this.#live.add(subscriber);
    if (fold !== undefined) {
      this.#fold ??= fold;
      this.#foldUsers++;
    }
    // A change that was told while nobody was live may be one that the subscriber's own read came too early for.
    void this.#read();
    return true;
  }

  leave(subscriber: Subscriber): void {
    this.#parked.delete(subscriber);
    if (!this.#live.delete(subscriber) || !subscriber.wantsSnapshots) return;
    if (--this.#foldUsers === 0) this.#fold = undefined;
  }

  park(subscriber: Subscriber): void {
    this.#parked.add(subscriber);
  }

  async #read(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (this.#told && this.#live.size > 0) {
        this.#told = false;
        const events = await this.#store.readEvents(this.runId, this.#next, PAGE_ROWS);
        await this.#deliver(events);
        if (endsLog(events, PAGE_ROWS)) continue;
        this.#told = true;
        // Pages may hold little that anybody is shown; the sockets and everybody else get their turn in between.
        await nextTurn();
      }
    } catch (error) {
      this.#told = true;
      if (!(error instanceof AppError)) this.#giveUp(error);
    } finally {
      this.#reading = false;
    }
  }

  async #deliver(events: readonly StoredEvent[]): Promise<void> {
    const pause = pauses();
    // Snapshots can be large: made one at a time, so that only those the sockets took are in memory.
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
      // Making one takes long where the run is large, however little of it is shown.
      await pause();
    }
  }

  /** A mistake of ours: it is told once, and clients come back by themselves and resume. */
  #giveUp(error: unknown): void {
    this.#report(error);
    for (const subscriber of [...this.#live]) subscriber.cut();
  }
}

/** A run that moves along with its log, for streams of values. */
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

  /** The text GET would give now. */
  get snapshot(): string {
    return JSON.stringify(shownRun(this.#run, this.#sensitivity));
  }

  /** Takes the next event, unless it is in the run already; gives the new snapshot when the event changes it. */
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
