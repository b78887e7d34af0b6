import { ApiError, AssayError, ConnectionError, TimeoutError, thrownAs } from "./errors.ts";
import { backOff, type ClientRequest, send, sleep, unreachable } from "./request.ts";
import { type RawFrame, readFrames } from "./server-sent-events.ts";
import type { ClientSettings, StreamOptions } from "./settings.ts";

/** A frame of a stream, its data parsed. */
export interface StreamFrame {
  readonly event: string;
  readonly data: unknown;
  /** Where to resume after it; frames without one are not sent again. */
  readonly id: string | undefined;
}

/** What is known of a stream that ends by itself. */
export interface StreamEnd {
  /** The frame after which there is nothing more. */
  isLast(frame: StreamFrame): boolean;
  /** Asked when a connection ended in peace and brought nothing. */
  isOver(): Promise<boolean>;
  /** In place of connections that bring nothing: what came after an id. Waits for some time until there is something. */
  poll(lastId: string | undefined): Promise<Polled>;
}

export interface Polled {
  readonly frames: readonly StreamFrame[];
  readonly lastId: string;
  /** Nothing more can come. */
  readonly isOver: boolean;
}

const STALL_MS = 45_000;
const PATIENCE_MS = 60_000;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 5_000;
const REMEMBERED_IDS = 1_000;
/** So many connections in a row without a frame: something between here and the server keeps streams back. */
const EMPTY_MAX = 3;

/** Server-sent events as an async iterator. It reconnects by itself and hands out each frame with an id once. */
export class EventStream<Frame> implements AsyncIterable<Frame> {
  readonly #follow: () => AsyncGenerator<StreamFrame, void, undefined>;

  constructor(settings: ClientSettings, request: ClientRequest, options: StreamOptions, end: StreamEnd | undefined) {
    this.#follow = () => new Follower(settings, request, options, end).frames();
  }

  /** Connects when it is begun. Ends when nothing more can come, when the loop is left, or when the signal is aborted. */
  [Symbol.asyncIterator](): AsyncGenerator<Frame, void, undefined> {
    return this.#follow() as AsyncGenerator<Frame, void, undefined>;
  }
}

class Follower {
  readonly #settings: ClientSettings;
  readonly #request: ClientRequest;
  readonly #options: StreamOptions;
  readonly #end: StreamEnd | undefined;
  readonly #seen = new Set<string>();
  #lastId: string | undefined;
  /** When a connection was last open. */
  #openAt: number | undefined;
  /** Connections in a row that brought nothing. */
  #empty = 0;
  #polling = false;

  constructor(settings: ClientSettings, request: ClientRequest, options: StreamOptions, end: StreamEnd | undefined) {
    this.#settings = settings;
    this.#request = request;
    this.#options = options;
    this.#end = end;
    this.#lastId = options.lastEventId;
  }

  async *frames(): AsyncGenerator<StreamFrame, void, undefined> {
    const { signal, onReconnect } = this.#options;
    while (!signal?.aborted) {
      let frames = 0;
      let error: unknown;
      try {
        for await (const frame of this.#polling ? this.#poll() : this.#connect()) {
          frames++;
          yield frame;
          if (this.#end?.isLast(frame)) return;
        }
        if (this.#polling || (frames === 0 && (await this.#end?.isOver()))) return;
      } catch (thrown) {
        error = thrown;
      }
      if (signal?.aborted) return;
      if (error !== undefined && !this.#mayPass(error)) throw thrownAs(error, this.#settings.toError);
      this.#empty = frames > 0 ? 0 : this.#empty + 1;
      this.#polling ||= this.#empty >= EMPTY_MAX && this.#end !== undefined;
      const reason = error instanceof AssayError ? error : new ConnectionError("The server ended the stream");
      onReconnect?.(thrownAs(reason, this.#settings.toError) as Error);
      await sleep(backOff(this.#empty, FIRST_DELAY_MS, LONGEST_DELAY_MS), signal);
    }
  }

  /** A server that never answered is an error at once, unless it may be a stream that is kept back. */
  #mayPass(error: unknown): boolean {
    if (error instanceof ApiError) return error.status === 408 || error.status === 429 || error.status >= 500;
    if (!(error instanceof ConnectionError)) return false;
    if (this.#openAt === undefined) return error instanceof TimeoutError && this.#end !== undefined && !this.#polling;
    return Date.now() - this.#openAt <= (this.#options.patienceMs ?? PATIENCE_MS);
  }

  async *#connect(): AsyncGenerator<StreamFrame, void, undefined> {
    const { signal, stallMs = STALL_MS, headers } = this.#options;
    const stalled = new AbortController();
    const signals = signal === undefined ? [stalled.signal] : [stalled.signal, signal];
    const { body } = await send(this.#settings, this.#request, {
      ...this.#options,
      signal: AbortSignal.any(signals),
      headers: { "last-event-id": this.#lastId, ...headers },
    });
    if (body === null) throw new ConnectionError(`The answer of ${this.#settings.url} has no body`);
    this.#openAt = Date.now();
    let timer = setTimeout(() => stalled.abort(), stallMs);
    const onBytes = () => {
      clearTimeout(timer);
      timer = setTimeout(() => stalled.abort(), stallMs);
    };
    try {
      const raw = readFrames(body, (id) => this.#at(id), onBytes);
      for await (const frame of raw) yield* this.#fresh(framesIn(frame));
    } catch (error) {
      if (error instanceof AssayError) throw error;
      throw stalled.signal.aborted
        ? new TimeoutError(`The stream of ${this.#settings.url} was silent for ${stallMs} ms`)
        : unreachable(this.#settings, error);
    } finally {
      clearTimeout(timer);
      this.#openAt = Date.now();
      stalled.abort();
    }
  }

  async *#poll(): AsyncGenerator<StreamFrame, void, undefined> {
    for (let over = false; !over && this.#end !== undefined; ) {
      const { frames, lastId, isOver } = await this.#end.poll(this.#lastId);
      this.#openAt = Date.now();
      this.#at(lastId);
      yield* this.#fresh(frames);
      over = isOver;
    }
  }

  *#fresh(frames: readonly StreamFrame[]): Generator<StreamFrame, void, undefined> {
    for (const frame of frames) {
      if (frame.id !== undefined && this.#seen.has(frame.id)) continue;
      if (frame.id !== undefined) this.#remember(frame.id);
      yield frame;
    }
  }

  #remember(id: string): void {
    this.#seen.add(id);
    const [oldest] = this.#seen;
    if (this.#seen.size > REMEMBERED_IDS && oldest !== undefined) this.#seen.delete(oldest);
  }

  #at(id: string): void {
    this.#lastId = id;
    this.#options.onId?.(id);
  }
}

/** With `bufferMs` several events come as one frame, which is taken apart. */
function framesIn({ event, data, id }: RawFrame): StreamFrame[] {
  const value = JSON.parse(data);
  if (event !== "batch") return [{ event, data: value, id }];
  return (value as { type: string; sequence: number }[]).map((one) => {
    return { event: one.type, data: one, id: String(one.sequence) };
  });
}
