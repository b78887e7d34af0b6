import type { IncomingHttpHeaders } from "node:http";
import type { FastifyReply } from "fastify";
import type { Recorder } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import type { AppError } from "../../protocol/errors.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";

/** What a route handler is given, after every check of the pipeline has passed. */
export interface RequestContext<H = Host> {
  readonly host: H;
  readonly requestId: string;
  /** Absent on public routes only; handlers of protected routes take it from `callerOf(context)`. */
  readonly caller?: Caller;
  readonly params: Readonly<Record<string, string>>;
  /** The run that the path names, where the pipeline looked it up; handlers take it from `runOf(context)`. */
  readonly run?: Run;
  /** Parsed and typed by the operation's query schema. */
  readonly query: unknown;
  /** Parsed by the operation's body schema; `{}` when an optional body was left out. */
  readonly body: unknown;
  /** The body as it was sent. */
  readonly bodyText: string;
  /** On routes that take it as it is; empty on all others. */
  readonly bodyBytes: Uint8Array;
  readonly headers: IncomingHttpHeaders;
  /** Absent where a request met no socket; handlers that write their answer themselves take it from `replyOf(context)`. */
  readonly reply?: FastifyReply;
  /** For reads of large runs without a caller, whose visibility brings it on all other routes. */
  readonly room: Pick<Visibility, "beforeLargeRead">;
  /** What went wrong when it is too late to answer with it. */
  readonly report: (error: unknown) => void;
  /**
   * For handlers that wait: `refused` is told when the caller's key would no longer open this route. Returns what ends
   * the watching. Hijacked replies are watched anyway, and cut.
   */
  watchKey(refused: (error: AppError) => void): () => void;
  /** Sends a long answer as its reader takes it. What it gives is the handler's reply. */
  stream(answer: LongAnswer): Reply;
  /**
   * For commands: the idempotency outcome to commit together with the change. `reply` must be the very reply the
   * handler returns for that result. Gives undefined when the request has no Idempotency-Key.
   */
  recorder<T>(reply: (result: T) => Reply): Recorder<T>;
}

export interface LongAnswer {
  readonly contentType: string;
  readonly pieces: AsyncIterable<string>;
  /** How long a reader may take nothing before it is cut off. */
  readonly stallMs?: number | undefined;
}

/** `hijacked`: the handler writes to the socket itself. */
export type Reply =
  | {
      readonly status: number;
      readonly json: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | {
      readonly status: number;
      readonly raw: string | Uint8Array | null;
      readonly contentType?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | "hijacked";

export type Handler<H = Host> = (context: RequestContext<H>) => Reply | Promise<Reply>;

export function callerOf(context: Pick<RequestContext, "caller">): Caller {
  if (!context.caller) throw new Error("a protected handler was called without a caller");
  return context.caller;
}

export function runOf(context: Pick<RequestContext, "run">): Run {
  if (!context.run) throw new Error("a handler asked for a run that the pipeline did not look up");
  return context.run;
}

export function replyOf(context: Pick<RequestContext, "reply">): FastifyReply {
  if (!context.reply) throw new Error("a handler that writes to a socket was called without one");
  return context.reply;
}
