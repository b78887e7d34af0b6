import type { ServerResponse } from "node:http";
import { PROTOCOL_VERSION, VERSION_HEADER } from "../../protocol/discovery.ts";
import { cutWhenStalled } from "../pipeline/connections.ts";
import { KEEP_ALIVE, OPENED } from "./event-frames.ts";

export interface SocketEvents {
  drained(): void;
  closed(): void;
}

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
  [VERSION_HEADER]: PROTOCOL_VERSION,
} as const;

/** A response as the output of frames: whether too many bytes wait in memory, and whether the reader takes any of them. */
export class SseSocket {
  readonly #response: ServerResponse;
  readonly #bufferedBytesMax: number;
  #blocked = false;

  constructor(response: ServerResponse, bufferedBytesMax: number) {
    this.#response = response;
    this.#bufferedBytesMax = bufferedBytesMax;
  }

  /** Sends the headers and a comment at once, so that the client sees the stream open before anything happens. */
  open(stallMs: number, on: SocketEvents): void {
    const response = this.#response;
    response.on("drain", () => {
      this.#blocked = false;
      on.drained();
    });
    response.on("close", () => on.closed());
    // A write during a disconnect fails here; `close` follows and releases the subscriber.
    response.on("error", () => {});
    cutWhenStalled(response, stallMs);
    response.writeHead(200, HEADERS);
    this.write(OPENED);
  }

  /** Node emits `drain` only after a refused write, so a socket whose last write was accepted is never full. */
  get full(): boolean {
    return this.#blocked && this.#response.writableLength > this.#bufferedBytesMax;
  }

  write(bytes: Buffer | string): void {
    this.#blocked = !this.#response.write(bytes);
  }

  keepAlive(): void {
    if (this.#response.writableLength === 0) this.write(KEEP_ALIVE);
  }

  /** The reader still receives the waiting frames. */
  end(): void {
    this.#response.end();
  }

  destroy(): void {
    this.#response.destroy();
  }
}
