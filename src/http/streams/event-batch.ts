import { endsRun } from "../../protocol/events.ts";
import type { StoredEvent } from "../../store/port/store.ts";
import { batchFrame } from "./sse-frame.ts";
import { isAdmitted, type StreamModes } from "./stream-mode.ts";

/** A batch may end before its time, so that what is held back stays small. */
const BATCH_BYTES = 64 * 1024;

/** Holds events back for `bufferMs` and sends them as one frame. */
export class EventBatch {
  readonly #modes: StreamModes;
  readonly #bufferMs: number;
  readonly #send: (frame: string) => void;
  #held: StoredEvent[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(modes: StreamModes, bufferMs: number, send: (frame: string) => void) {
    this.#modes = modes;
    this.#bufferMs = bufferMs;
    this.#send = send;
  }

  add(event: StoredEvent): void {
    if (isAdmitted(this.#modes, event.type)) {
      this.#held.push(event);
      this.#bytes += event.body.length;
      this.#timer ??= setTimeout(() => this.flush(), this.#bufferMs);
    }
    // Somebody is waiting for these, also where the mode itself does not show them.
    const urgent = endsRun(event.type) || event.type === "node.suspended";
    if (urgent || this.#bytes > BATCH_BYTES) this.flush();
  }

  flush(): void {
    const held = this.#held;
    this.drop();
    if (held.length > 0) this.#send(batchFrame(held));
  }

  drop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#held = [];
    this.#bytes = 0;
  }
}
