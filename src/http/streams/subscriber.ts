import { setImmediate as nextTurn } from "node:timers/promises";
import { visibleRun } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { endsLog } from "../../engine/runs/read-log.ts";
import { pauses } from "../../engine/worker/pauses.ts";
import { AppError } from "../../protocol/errors.ts";
import { endsRun } from "../../protocol/events.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { type BatchOutput, EventBatch } from "./event-batch.ts";
import { CHUNK_BYTES, EventChunk, splitEvents } from "./event-chunk.ts";
import type { RunFeed } from "./run-feed.ts";
import { RunFold } from "./run-feed.ts";
import { snapshotFrame } from "./sse-frame.ts";
import type { SseSocket } from "./sse-socket.ts";
import type { StreamModes } from "./stream-mode.ts";
import type { StreamTally } from "./stream-room.ts";

export interface Subscription {
  readonly modes: StreamModes;
  readonly bufferMs: number;
  /** `Last-Event-ID`: only later sequences are sent. -1 for all. */
  readonly after: number;
  /** How many events the log held when the run was looked up. */
  readonly version: number;
  readonly visible: Visibility;
}

type State = "new" | "reading" | "live" | "lagging" | "parked" | "ended";

const ROWS_MAX = 512;

/** A reader that takes nothing for long does not make the host keep every judgment for it. */
const BESIDE_MAX = 256;

/**
 * One connection that follows a run.
 * `reading`: it reads the store by its own cursor. `live`: the feed hands it what is new. `lagging`: its socket is full
 * and it waits for `drain`, then reads again. `parked`: its read failed and it waits for the feed to be told.
 */
export class Subscriber {
  readonly #host: Host;
  readonly #feed: RunFeed;
  readonly #socket: SseSocket;
  readonly #tally: StreamTally;
  readonly #subscription: Subscription;
  readonly #report: (error: unknown) => void;
  readonly #batch: EventBatch | undefined;
  #state: State = "new";
  /** Everything before this sequence was read. */
  #position: number;
  #rows = 64;
  /** Frames of judgments that came while the socket was full. */
  readonly #beside: string[] = [];

  constructor(
    { host, tally, report }: { host: Host; tally: StreamTally; report: (error: unknown) => void },
    feed: RunFeed,
    socket: SseSocket,
    subscription: Subscription,
  ) {
    this.#host = host;
    this.#tally = tally;
    this.#report = report;
    this.#feed = feed;
    this.#socket = socket;
    this.#subscription = subscription;
    const { modes, bufferMs, after, version } = subscription;
    // The last event is read even by a client that has it: it tells whether the run is over. For values the run does.
    this.#position = this.wantsSnapshots ? 0 : Math.min(after + 1, version - 1);
    // A snapshot is no RunEventDoc and cannot be in a batch: `bufferMs` changes nothing for values.
    const batches = bufferMs > 0 && !this.wantsSnapshots;
    this.#batch = batches ? new EventBatch(modes, bufferMs, this.#batchOutput()) : undefined;
  }

  get wantsSnapshots(): boolean {
    return this.#subscription.modes.key === "values";
  }

  /** Reads from the store until there is no more, the socket is full, or the run is over. */
  catchUp(): void {
    if (this.#state === "reading" || this.#state === "live" || this.#state === "ended") return;
    this.#enter("reading");
    void this.#readOn();
  }

  /** Sends what it has not sent yet. False when the socket is full: then it is to lag, and reads what was not sent again. */
  take(chunk: EventChunk): boolean {
    if (this.#socket.full) return false;
    const fresh = chunk.from(Math.max(this.#position, this.#subscription.after + 1));
    this.#position = Math.max(this.#position, chunk.last.sequence + 1);
    if (fresh === undefined) return true;
    if (this.#batch !== undefined) {
      for (const event of fresh.events) if (!this.#batch.add(event)) return false;
    } else {
      const { bytes, count } = fresh.frames(this.#subscription.modes);
      if (count > 0) this.#write(bytes, count);
    }
    return true;
  }

  /** A frame beside the log. It waits while the socket is full, behind whatever was sent before it. */
  annotated(frame: string): void {
    if (this.#state === "ended" || !this.#hearsAnnotations) return;
    this.#batch?.flush();
    if (this.#socket.full) this.#beside.push(frame);
    else this.#write(frame, 1);
    if (this.#beside.length > BESIDE_MAX) this.#beside.shift();
  }

  get #hearsAnnotations(): boolean {
    const { names } = this.#subscription.modes;
    return names.includes("updates") || names.includes("debug");
  }

  lag(): void {
    this.#position = this.#batch?.drop() ?? this.#position;
    this.#feed.leave(this);
    this.#enter("lagging");
  }

  drained(): void {
    for (const frame of this.#beside.splice(0)) this.#write(frame, 1);
    if (this.#state === "lagging") this.catchUp();
  }

  keepAlive(): void {
    if (this.#state !== "ended") this.#socket.keepAlive();
  }

  /** Ends the stream politely: the reader still gets what was sent. */
  finish(): void {
    if (this.#state === "ended") return;
    this.#batch?.flush();
    this.release();
    this.#socket.end();
  }

  cut(): void {
    this.release();
    this.#socket.destroy();
  }

  /** Lets go of everything but the connection. */
  release(): void {
    this.#batch?.drop();
    this.#feed.leave(this);
    this.#enter("ended");
  }

  async #readOn(): Promise<void> {
    try {
      const fold = this.wantsSnapshots ? await this.#readSnapshot() : undefined;
      if (this.#state !== "reading") return;
      while (await this.#readPage(fold));
    } catch (error) {
      if (this.#state === "ended") return;
      if (error instanceof AppError) {
        this.#enter("parked");
        this.#feed.park(this);
      } else {
        this.#report(error);
        this.cut();
      }
    }
  }

  /** Whether there is another page to read. */
  async #readPage(fold: RunFold | undefined): Promise<boolean> {
    const asked = this.#rows;
    const events = await this.#host.store.readEvents(this.#feed.runId, this.#position, asked);
    const pause = pauses();
    let taken = 0;
    for (const part of splitEvents(events, () => (fold === undefined ? CHUNK_BYTES : 0))) {
      if (this.#state !== "reading") return false;
      if (!this.take(new EventChunk(part, fold?.apply(part[0])))) {
        // The rest is forgotten and read again later: what waits in memory is what the socket holds, no more.
        this.#rows = Math.max(1, taken);
        this.lag();
        return false;
      }
      taken += part.length;
      if (endsRun(part.at(-1)?.type ?? "")) this.finish();
      // A snapshot takes long to make where the run is large, however little of it is shown.
      if (fold !== undefined) await pause();
    }
    if (this.#state !== "reading") return false;
    this.#rows = Math.min(ROWS_MAX, asked * 2);
    if (!endsLog(events, asked)) {
      // A log of which this mode shows little is long to read and never fills the socket; others get their turn.
      await nextTurn();
    } else if (this.#feed.join(this, this.#position, fold)) {
      this.#enter("live");
      return false;
    }
    return true;
  }

  /**
   * The backlog of a stream of values is one snapshot, the run as it is; from there on every change has its own. The
   * same after a lag: what the client could not take in time is not worth showing any more.
   */
  async #readSnapshot(): Promise<RunFold | undefined> {
    const run = await visibleRun(this.#host, this.#subscription.visible, this.#feed.runId);
    const { sensitivity } = await this.#host.plans.byHash(run.workflowHash);
    if (this.#state !== "reading") return undefined;
    const fold = new RunFold(run, sensitivity);
    const over = isTerminal(run.status);
    // A client that has the last event of a run that is over has its last snapshot too.
    const known = over && this.#subscription.after >= run.version - 1;
    if (run.version > this.#position && !known) this.#write(snapshotFrame(run.version - 1, fold.snapshot), 1);
    this.#position = run.version;
    if (over) this.finish();
    return fold;
  }

  #batchOutput(): BatchOutput {
    return {
      send: (frame) => {
        if (this.#socket.full) return false;
        this.#write(frame(), 1);
        return true;
      },
      // While it reads, the read itself finds the socket full.
      refused: () => {
        if (this.#state === "live") this.lag();
      },
    };
  }

  #write(bytes: Buffer | string, frames: number): void {
    this.#tally.frames += frames;
    this.#socket.write(bytes);
  }

  #enter(state: State): void {
    if (this.#state === "lagging") this.#tally.lagging--;
    if (state === "lagging") this.#tally.lagging++;
    this.#state = state;
  }
}
