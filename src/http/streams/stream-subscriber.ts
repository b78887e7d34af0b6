import type { ServerResponse } from "node:http";
import { pauses } from "../../engine/worker/pauses.ts";
import { SseSocket } from "./sse-socket.ts";
import type { StreamRoom, StreamSettings, StreamTally } from "./stream-room.ts";

export interface StreamDeps {
  readonly settings: StreamSettings;
  /** Shared by all streams of the process. */
  readonly room: StreamRoom;
  /** Reports a failure that comes too late to be a response. */
  report(error: unknown): void;
}

/** The socket of a subscriber, and the counters of the process. */
export interface StreamOutput {
  readonly socket: SseSocket;
  readonly tally: StreamTally;
}

/** One connection that follows a run, an inbox or judgments. While its socket is full it is `lagging`: it receives nothing until the socket drains. */
export abstract class StreamSubscriber<State extends string = "following"> {
  readonly #socket: SseSocket;
  readonly #tally: StreamTally;
  #state: State | "lagging" | "ended";

  constructor({ socket, tally }: StreamOutput, state: State) {
    this.#socket = socket;
    this.#tally = tally;
    this.#state = state;
  }

  /** Called once, after the headers have been sent. */
  abstract opened(): void;

  /** Called when a full socket has sent what it held. */
  abstract drained(): void;

  keepAlive(): void {
    if (this.#state !== "ended") this.#socket.keepAlive();
  }

  /** Ends the stream after the frames that wait. */
  finish(): void {
    if (this.#state === "ended") return;
    this.release();
    this.#socket.end();
  }

  /** Ends the connection at once. The client reconnects and resumes. */
  cut(): void {
    this.release();
    this.#socket.destroy();
  }

  /** Releases everything but the connection. */
  release(): void {
    this.enter("ended");
  }

  protected get state(): State | "lagging" | "ended" {
    return this.#state;
  }

  protected get isFull(): boolean {
    return this.#socket.full;
  }

  protected write(bytes: Buffer | string, frames = 1): void {
    this.#tally.frames += frames;
    this.#socket.write(bytes);
  }

  protected enter(state: State | "lagging" | "ended"): void {
    if (this.#state === "lagging") this.#tally.lagging -= 1;
    if (state === "lagging") this.#tally.lagging += 1;
    this.#state = state;
  }
}

const AT_ONCE = 8;

/**
 * Gives work to each subscriber of a feed, some at a time and with pauses: there may be thousands. Throws the first failure when all are done,
 * because the next read must not overtake subscribers that still process this one.
 */
export async function forEachSubscriber<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const pause = pauses();
  const failures: unknown[] = [];
  for (let i = 0; i < items.length; i += AT_ONCE) {
    const settled = await Promise.allSettled(items.slice(i, i + AT_ONCE).map(work));
    for (const one of settled) if (one.status === "rejected") failures.push(one.reason);
    await pause();
  }
  if (failures.length > 0) throw failures[0];
}

export interface Opening {
  /** Headers that are set on it already are sent too. */
  readonly response: ServerResponse;
  /** The tenant whose streams this one is counted with. */
  readonly tenant: string;
}

/**
 * Makes the response a stream; from here on it belongs to the subscriber. Throws before anything is sent when there is no room or the host
 * is shutting down. Undefined when the client has disconnected.
 */
export function openStream<S extends StreamSubscriber<string>>(
  { room, settings }: StreamDeps,
  { response, tenant }: Opening,
  make: (output: StreamOutput) => S,
  on: { drained?(): void; closed(subscriber: S): void },
): S | undefined {
  room.check(tenant);
  // Disconnected during a look-up: `close` was emitted before and would never release the subscriber.
  if (response.destroyed) return undefined;
  const socket = new SseSocket(response, settings.bufferedBytesMax);
  const subscriber = make({ socket, tally: room.tally });
  const leave = room.take(tenant);
  socket.open(settings.stallMs, {
    drained: () => {
      subscriber.drained();
      on.drained?.();
    },
    closed: () => {
      subscriber.release();
      leave();
      on.closed(subscriber);
    },
  });
  subscriber.opened();
  return subscriber;
}
