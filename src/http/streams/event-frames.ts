import { AppError } from "../../protocol/errors.ts";
import { changesSnapshot, tierOf } from "../../protocol/events.ts";
import type { StoredEvent } from "../../store/port/store.ts";

export const STREAM_MODES = ["values", "updates", "messages", "debug"] as const;
export type StreamMode = (typeof STREAM_MODES)[number];

/** A valid combination of modes. The key does not depend on the order in which a request names them. */
export interface StreamModes {
  readonly key: string;
  readonly names: readonly StreamMode[];
}

/** Throws `unsupported_stream_mode` for names that are unknown, empty or repeated, and for `values` with another mode. */
export function parseStreamMode(raw = "updates"): StreamModes {
  const asked = raw.split(",").map((name) => name.trim());
  const names = STREAM_MODES.filter((mode) => asked.includes(mode));
  const valid = names.length === asked.length && (names.length === 1 || !names.includes("values"));
  if (!valid) throw new AppError("unsupported_stream_mode", { mode: raw, supported: [...STREAM_MODES] });
  return { key: names.join(","), names };
}

/** Whether any of the modes carries events of this type. */
export function isAdmitted(modes: StreamModes, type: string): boolean {
  return modes.names.some((mode) => admits(mode, type));
}

function admits(mode: StreamMode, type: string): boolean {
  switch (mode) {
    case "values":
      return changesSnapshot(type);
    case "updates":
      return tierOf(type) === "updates";
    case "messages":
      return isMessageChunk(type);
    case "debug":
      return true;
  }
}

/** The one log event that streams show in another form. */
export function isMessageChunk(type: string): boolean {
  return type === "output.chunk";
}

export const OPENED = ":ok\n\n";
export const KEEP_ALIVE = Buffer.from(":keepalive\n\n");

/** The frame of an event, named by the event's type, or an empty text when no mode admits it. Stored texts are sent as they are. */
export function eventFrame(modes: StreamModes, event: StoredEvent): string {
  if (!isAdmitted(modes, event.type)) return "";
  if (isMessageChunk(event.type)) return frame(event.sequence, "ai.message.chunk", messageChunk(event.body));
  return frame(event.sequence, event.type, event.body);
}

export function snapshotFrame(sequence: number, snapshot: string): string {
  return frame(sequence, "state.snapshot", snapshot);
}

/** `events` holds at least one; the client resumes after the last of them. */
export function batchFrame(events: readonly StoredEvent[]): string {
  return frame(events.at(-1)?.sequence ?? 0, "batch", `[${events.map((event) => event.body).join(",")}]`);
}

/** A frame that no client resumes after. */
export function plainFrame(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

/** JSON texts have no line breaks of their own, so one `data:` line holds any of them. */
function frame(id: number, event: string, data: string): string {
  return `id: ${id}\n${plainFrame(event, data)}`;
}

function messageChunk(body: string): string {
  const { payload } = JSON.parse(body) as { payload: Record<string, unknown> };
  const { nodeId, runId, chunk, isLast, meta } = payload;
  return JSON.stringify({ nodeId, runId, chunk, isLast, meta });
}

export interface Frames {
  readonly bytes: Buffer;
  readonly count: number;
}

/** Large enough for few writes of a backlog, small enough to notice a full socket in time. */
export const CHUNK_BYTES = 64 * 1024;

/** Consecutive events that are written together. The bytes are made once per combination of modes and shared by all subscribers. */
export class EventChunk {
  readonly events: readonly [StoredEvent, ...StoredEvent[]];
  /** The run after the last of the events, as GET shows it; only where a subscriber streams values. */
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
