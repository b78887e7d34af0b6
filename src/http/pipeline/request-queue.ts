import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";

/** Requests that begin in one turn of the event loop: some milliseconds of work. Later ones wait for the next turn. */
const BEGUN_PER_TURN = 32;

/** Requests that may wait on one connection. Few HTTP clients pipeline; Node parses a chunk of 64 KB at once, which may hold 1,900 requests. */
const WAITING_MAX = 32;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Exchanges that wait behind the one under way, per connection with one under way. */
const waitingOn = new WeakMap<Socket, Exchange[]>();

/**
 * A request beyond those that may wait on its connection reports an upgrade to another protocol, at which Node stops parsing and hands
 * over the connection. The parser has no other way to stop inside a chunk, and parsing alone blocked the event loop for a second when
 * sixty connections pipelined. Upgrades that clients request are ignored, as without this class.
 */
class BoundedRequest extends IncomingMessage {
  readonly #isBeyond: boolean;
  #requested: boolean | null = null;

  constructor(socket: Socket) {
    super(socket);
    this.#isBeyond = (waitingOn.get(socket)?.length ?? 0) >= WAITING_MAX;
  }

  get upgrade(): boolean | null {
    return this.#isBeyond || (this.method === "CONNECT" && this.#requested);
  }

  /** The constructor of the base class assigns it before the fields exist. */
  set upgrade(requested: boolean | null) {
    if (#requested in this) this.#requested = requested;
  }
}

/** A server whose requests begin one after the other on each connection, and a bounded number of all of them in each turn of the event loop. */
export function boundedServer(options: ServerOptions, begin: RequestListener): Server {
  const queue = new RequestQueue(begin);
  const server = createServer({ ...options, IncomingMessage: BoundedRequest }, queue.take);
  server.on("upgrade", (_request, socket) => {
    // Node no longer handles errors of the connection; a failed write of the response under way would end the process.
    socket.on("error", () => {});
    socket.destroy();
  });
  return server;
}

/** Node begins all pipelined requests of a chunk at once, and the chunks of all connections in one turn. */
class RequestQueue {
  readonly #begin: RequestListener;
  readonly #line: Exchange[] = [];
  #begun = 0;

  constructor(begin: RequestListener) {
    this.#begin = begin;
  }

  readonly take = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    const waiting = waitingOn.get(socket);
    if (waiting === undefined) {
      waitingOn.set(socket, []);
      this.#enter({ request, response });
    } else {
      waiting.push({ request, response });
      socket.pause();
    }
  };

  #enter(exchange: Exchange): void {
    const { socket } = exchange.request;
    exchange.response.once("close", () => this.#leave(socket));
    if (this.#begun === 0) setImmediate(() => this.#nextTurn());
    if (this.#begun < BEGUN_PER_TURN) this.#start(exchange);
    else this.#line.push(exchange);
  }

  #leave(socket: Socket): void {
    // A request behind a response that ends the connection would be processed and never answered.
    const waiting = socket.writable ? waitingOn.get(socket) : undefined;
    const next = waiting?.shift();
    if (next === undefined) waitingOn.delete(socket);
    else this.#enter(next);
    if (waiting?.length === 0) socket.resume();
  }

  #nextTurn(): void {
    this.#begun = 0;
    for (const exchange of this.#line.splice(0, BEGUN_PER_TURN)) {
      if (!exchange.response.destroyed) this.#start(exchange);
    }
    if (this.#begun > 0 || this.#line.length > 0) setImmediate(() => this.#nextTurn());
  }

  #start({ request, response }: Exchange): void {
    this.#begun += 1;
    this.#begin(request, response);
  }
}
