import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Recorder } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { PROTOCOL_VERSION, VERSION_HEADER } from "../../protocol/discovery.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { STREAM_DEFAULTS } from "../streams/stream-room.ts";
import { cutWhenStalled } from "./connections.ts";
import type { RequestContext } from "./handler.ts";
import { type Keyed, outcomeOf } from "./idempotency.ts";
import type { Body } from "./read-body.ts";
import type { LongAnswer, Reply } from "./reply.ts";

const NO_BYTES = new Uint8Array();

export class Context implements RequestContext {
  readonly host: Host;
  readonly requestId: string;
  declare readonly caller?: Caller;
  readonly params: Readonly<Record<string, string>>;
  declare readonly run?: Run;
  readonly query: unknown;
  readonly body: unknown;
  readonly bodyText: string;
  readonly bodyBytes: Uint8Array;
  readonly headers: IncomingHttpHeaders;
  readonly reply: FastifyReply;
  /** Whether a command has the outcome to commit with its change. */
  recorded = false;
  readonly watchKey: RequestContext["watchKey"];
  readonly report: RequestContext["report"];
  readonly room: RequestContext["room"];
  readonly #keyed: Keyed | undefined;

  constructor(
    host: Host,
    request: FastifyRequest,
    reply: FastifyReply,
    caller: Caller | undefined,
    params: Readonly<Record<string, string>>,
    run: Run | undefined,
    query: unknown,
    body: Body,
    keyed: Keyed | undefined,
    watchKey: RequestContext["watchKey"],
    report: RequestContext["report"],
    room: RequestContext["room"],
  ) {
    this.host = host;
    this.requestId = request.id;
    if (caller !== undefined) this.caller = caller;
    this.params = params;
    if (run !== undefined) this.run = run;
    this.query = query;
    this.body = body.value;
    this.bodyText = body.text;
    this.bodyBytes = body.bytes ?? NO_BYTES;
    this.headers = request.headers;
    this.reply = reply;
    this.watchKey = watchKey;
    this.report = report;
    this.room = room;
    this.#keyed = keyed;
  }

  stream({ contentType, pieces, stallMs = STREAM_DEFAULTS.stallMs }: LongAnswer): Reply {
    const response = this.reply.raw;
    this.reply.hijack();
    cutWhenStalled(response, stallMs);
    const headers = {
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-request-id": this.requestId,
    };
    response.writeHead(200, { "content-type": contentType, [VERSION_HEADER]: PROTOCOL_VERSION, ...headers });
    // Not awaited: the client sees by the response how it ends.
    pipeline(Readable.from(pieces), response).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ERR_STREAM_PREMATURE_CLOSE") this.report(error);
    });
    return "hijacked";
  }

  recorder<T>(reply: (result: T) => Reply): Recorder<T> {
    const keyed = this.#keyed;
    if (keyed === undefined) return () => undefined;
    return (result) => {
      const answered = reply(result);
      if (answered === "hijacked") throw new Error("a reply under an idempotency key must be one that can be recorded");
      this.recorded = true;
      return outcomeOf(this.host, keyed, answered);
    };
  }
}
