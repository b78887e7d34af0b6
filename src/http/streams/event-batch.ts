import { ownTurn } from "../../engine/worker/pauses.ts";
import { endsRun } from "../../protocol/events.ts";
import type { StoredEvent } from "../../store/port/store.ts";
import { batchFrame, isAdmitted, type StreamModes } from "./event-frames.ts";

/** A larger batch is sent before its time. A larger event is a batch of its own. */
const BATCH_BYTES = 64 * 1024;

/** Frames by the last event of their batch: live subscribers of a run hold the same events and write the same bytes. */
const framesByLast = new WeakMap<StoredEvent, Map<string, Buffer>>();

export interface BatchOutput {
  /** False, with nothing sent, when the socket is full. */
  send(frame: () => Buffer): boolean;
  /** Called when a due batch could not be sent. It is due again later, unless it is dropped. */
  refused(): void;
}

/** Holds events back for `bufferMs` and sends them as one frame. */
export class EventBatch {
  readonly #modes: StreamModes;
  readonly #bufferMs: number;
  readonly #output: BatchOutput;
  #held: StoredEvent[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(modes: StreamModes, bufferMs: number, output: BatchOutput) {
    this.#modes = modes;
    this.#bufferMs = bufferMs;
    this.#output = output;
  }

  /** False when a batch had to be sent and the socket was full: it is still held, and the event may be. */
  add(event: StoredEvent): boolean {
    const { length } = event.body;
    if (isAdmitted(this.#modes, event.type)) {
      // Large events are shared by all subscribers, however the batches of each began.
      if (length > BATCH_BYTES && !this.flush()) return false;
      this.#held.push(event);
      this.#bytes += length;
      this.#timer ??= this.#start();
    }
    // People and clients wait for these events, also where the mode does not show them.
    const urgent = endsRun(event.type) || event.type === "node.suspended";
    return urgent || this.#bytes > BATCH_BYTES ? this.flush() : true;
  }

  /** False, with everything still held, when the socket is full. */
  flush(): boolean {
    const sent = this.#held.length === 0 || this.#output.send(() => this.#frame());
    if (sent) this.drop();
    return sent;
  }

  /** The sequence of the first event that was held. */
  drop(): number | undefined {
    const [first] = this.#held;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#held = [];
    this.#bytes = 0;
    return first?.sequence;
  }

  /** Batches of many subscribers fall due together; each is sent in a turn of its own. */
  #start(): NodeJS.Timeout {
    const timer = setTimeout(async () => {
      await ownTurn();
      if (this.#timer !== timer) return;
      this.#timer = undefined;
      if (this.flush()) return;
      this.#output.refused();
      if (this.#held.length > 0) this.#timer = this.#start();
    }, this.#bufferMs);
    return timer;
  }

  #frame(): Buffer {
    const last = this.#held.at(-1) as StoredEvent;
    const frames = framesByLast.get(last) ?? new Map<string, Buffer>();
    framesByLast.set(last, frames);
    const key = `${this.#held[0]?.sequence} ${this.#modes.key}`;
    const made = frames.get(key) ?? Buffer.from(batchFrame(this.#held));
    frames.set(key, made);
    return made;
  }
}
