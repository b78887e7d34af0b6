import { setImmediate as nextTurn } from "node:timers/promises";
import { visibleRun } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { pauses } from "../../engine/worker/pauses.ts";
import { AppError } from "../../protocol/errors.ts";
import { endsRun } from "../../protocol/events.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { isLastPage } from "../../store/port/large-rows.ts";
import { type BatchOutput, EventBatch } from "./event-batch.ts";
import type { StreamModes } from "./event-frames.ts";
import { CHUNK_BYTES, EventChunk, snapshotFrame, splitEvents } from "./event-frames.ts";
import { type RunFeed, RunFold } from "./run-feed.ts";
import { type StreamOutput, StreamSubscriber } from "./stream-subscriber.ts";

export interface RunSubscription {
  readonly modes: StreamModes;
  readonly bufferMs: number;
  /** `Last-Event-ID`: only later sequences are sent. -1 for all. */
  readonly after: number;
  /** The number of events in the log when the run was looked up. */
  readonly version: number;
  readonly visible: Visibility;
}

const ROWS_MAX = 512;

/** How many judgments wait for a client that reads nothing; the oldest are dropped. */
const JUDGMENTS_MAX = 256;

/**
 * One connection that follows a run.
 * `reading`: it reads the store by its own cursor. `live`: the feed passes new events to it. `lagging`: its socket is full
 * and it waits for `drain`, then reads again. `parked`: its read failed and it waits for the next notification of the feed.
 */
export class RunSubscriber extends StreamSubscriber<"new" | "reading" | "live" | "parked"> {
  readonly #host: Host;
  readonly #feed: RunFeed;
  readonly #subscription: RunSubscription;
  readonly #report: (error: unknown) => void;
  readonly #batch: EventBatch | undefined;
  /** Every event before this sequence was read. */
  #position: number;
  #rows = 64;
  /** Frames of judgments that were made while the socket was full. */
  readonly #judgments: string[] = [];

  constructor(
    { host, report }: { host: Host; report: (error: unknown) => void },
    feed: RunFeed,
    output: StreamOutput,
    subscription: RunSubscription,
  ) {
    super(output, "new");
    this.#host = host;
    this.#report = report;
    this.#feed = feed;
    this.#subscription = subscription;
    const { modes, bufferMs, after, version } = subscription;
    // The last event is read even for a client that has it, because it says whether the run has ended. Values say so themselves.
    this.#position = this.wantsSnapshots ? 0 : Math.min(after + 1, version - 1);
    // A snapshot is no RunEventDoc and cannot be in a batch: `bufferMs` changes nothing for values.
    const batches = bufferMs > 0 && !this.wantsSnapshots;
    this.#batch = batches ? new EventBatch(modes, bufferMs, this.#batchOutput()) : undefined;
  }

  opened(): void {
    this.catchUp();
  }

  get wantsSnapshots(): boolean {
    return this.#subscription.modes.key === "values";
  }

  /** Reads from the store until there is no more, the socket is full, or the run is over. */
  catchUp(): void {
    if (this.state === "reading" || this.state === "live" || this.state === "ended") return;
    this.enter("reading");
    void this.#readOn();
  }

  /** Sends the events that it has not sent yet. False when the socket is full: then the caller calls `lag`, and the events are read again. */
  take(chunk: EventChunk): boolean {
    if (this.isFull) return false;
    const fresh = chunk.from(Math.max(this.#position, this.#subscription.after + 1));
    this.#position = Math.max(this.#position, chunk.last.sequence + 1);
    if (fresh === undefined) return true;
    if (this.#batch !== undefined) {
      for (const event of fresh.events) if (!this.#batch.add(event)) return false;
    } else {
      const { bytes, count } = fresh.frames(this.#subscription.modes);
      if (count > 0) this.write(bytes, count);
    }
    return true;
  }

  /** Sends a judgment, which is no event of the log, after all frames before it. It waits while the socket is full. */
  annotated(frame: string): void {
    if (this.state === "ended" || !this.#showsJudgments) return;
    this.#batch?.flush();
    if (this.isFull) this.#judgments.push(frame);
    else this.write(frame, 1);
    if (this.#judgments.length > JUDGMENTS_MAX) this.#judgments.shift();
  }

  get #showsJudgments(): boolean {
    const { names } = this.#subscription.modes;
    return names.includes("updates") || names.includes("debug");
  }

  lag(): void {
    this.#position = this.#batch?.drop() ?? this.#position;
    this.#feed.leave(this);
    this.enter("lagging");
  }

  drained(): void {
    for (const frame of this.#judgments.splice(0)) this.write(frame, 1);
    if (this.state === "lagging") this.catchUp();
  }

  override finish(): void {
    if (this.state !== "ended") this.#batch?.flush();
    super.finish();
  }

  override release(): void {
    this.#batch?.drop();
    this.#feed.leave(this);
    super.release();
  }

  async #readOn(): Promise<void> {
    try {
      const fold = this.wantsSnapshots ? await this.#readSnapshot() : undefined;
      if (this.state !== "reading") return;
      while (await this.#readPage(fold));
    } catch (error) {
      if (this.state === "ended") return;
      if (error instanceof AppError) {
        this.enter("parked");
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
      if (this.state !== "reading") return false;
      if (!this.take(new EventChunk(part, fold?.apply(part[0])))) {
        // The rest is dropped and read again later, so that only the buffer of the socket waits in memory.
        this.#rows = Math.max(1, taken);
        this.lag();
        return false;
      }
      taken += part.length;
      if (endsRun(part.at(-1)?.type ?? "")) this.finish();
      // The snapshot of a large run takes long to make, however little of it is shown.
      if (fold !== undefined) await pause();
    }
    if (this.state !== "reading") return false;
    this.#rows = Math.min(ROWS_MAX, asked * 2);
    if (!isLastPage(events, asked)) {
      // A long log of which this mode shows little never fills the socket; other work gets its turn.
      await nextTurn();
    } else if (this.#feed.join(this, this.#position, fold)) {
      this.enter("live");
      return false;
    }
    return true;
  }

  /** The backlog of a stream of values is one snapshot of the run as it is now, also after a lag; every later change has its own. */
  async #readSnapshot(): Promise<RunFold | undefined> {
    const run = await visibleRun(this.#host, this.#subscription.visible, this.#feed.runId);
    const { sensitivity } = await this.#host.plans.byHash(run.workflowHash);
    if (this.state !== "reading") return undefined;
    const fold = new RunFold(run, sensitivity);
    const over = isTerminal(run.status);
    // A client that has the last event of an ended run has its last snapshot too.
    const known = over && this.#subscription.after >= run.version - 1;
    if (run.version > this.#position && !known) this.write(snapshotFrame(run.version - 1, fold.snapshot), 1);
    this.#position = run.version;
    if (over) this.finish();
    return fold;
  }

  #batchOutput(): BatchOutput {
    return {
      send: (frame) => {
        if (this.isFull) return false;
        this.write(frame(), 1);
        return true;
      },
      // While it reads, the read itself meets the full socket.
      refused: () => {
        if (this.state === "live") this.lag();
      },
    };
  }
}
