import type { StoredEvent } from "../../store/port/store.ts";
import { eventFrame, snapshotFrame } from "./sse-frame.ts";
import type { StreamModes } from "./stream-mode.ts";

export interface Frames {
  readonly bytes: Buffer;
  readonly count: number;
}

/** Large enough that a backlog takes few writes, small enough that a full socket is noticed in time. */
export const CHUNK_BYTES = 64 * 1024;

/**
 * Consecutive events that are written in one go. The bytes are made once per combination of modes, by the first
 * subscriber that asks; a thousand others write the same buffer.
 */
export class EventChunk {
  readonly events: readonly [StoredEvent, ...StoredEvent[]];
  /** The run after the last of the events, as GET shows it; only where somebody streams values. */
  readonly #snapshot: string | undefined;
  readonly #frames = new Map<string, Frames>();

  constructor(events: readonly [StoredEvent, ...StoredEvent[]], snapshot?: string) {
    this.events = events;
    this.#snapshot = snapshot;
  }

  get last(): StoredEvent {
    return this.events.at(-1) ?? this.events[0];
  }

  /** The part that starts at `sequence`: usually the whole, undefined when nothing is left. */
  from(sequence: number): EventChunk | undefined {
    if (this.events[0].sequence >= sequence) return this;
    const [first, ...rest] = this.events.filter((event) => event.sequence >= sequence);
    return first && new EventChunk([first, ...rest], this.#snapshot);
  }

  frames(modes: StreamModes): Frames {
    let made = this.#frames.get(modes.key);
    if (made === undefined) {
      const texts = modes.key === "values" ? this.#snapshotFrames() : this.events.map((one) => eventFrame(modes, one));
      made = { bytes: Buffer.from(texts.join("")), count: texts.filter((text) => text !== "").length };
      this.#frames.set(modes.key, made);
    }
    return made;
  }

  #snapshotFrames(): string[] {
    return this.#snapshot === undefined ? [] : [snapshotFrame(this.last.sequence, this.#snapshot)];
  }
}

/** Splits what was read, part by part, so that none is much larger than `bytesMax` says by then; with 0, every event is a part of its own. */
export function* splitEvents(
  events: readonly StoredEvent[],
  bytesMax: () => number,
): Generator<readonly [StoredEvent, ...StoredEvent[]], void> {
  let part: [StoredEvent, ...StoredEvent[]] | undefined;
  let bytes = 0;
  for (const event of events) {
    bytes += event.body.length;
    if (part !== undefined && bytes <= bytesMax()) part.push(event);
    else {
      if (part !== undefined) yield part;
      part = [event];
      bytes = event.body.length;
    }
  }
  if (part !== undefined) yield part;
}
