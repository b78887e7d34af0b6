import type { IncomingHttpHeaders } from "node:http";
import type { FastifyReply } from "fastify";
import type { Recorder } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import type { AppError } from "../../protocol/errors.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { Static, TSchema } from "../../protocol/schema.ts";
import type { LongAnswer, Reply } from "./reply.ts";

/** The arguments of a handler, after every check of the pipeline has passed. */
export interface RequestContext<H = Host> {
  readonly host: H;
  readonly requestId: string;
  /** Absent on public routes. */
  readonly caller?: Caller;
  readonly params: Readonly<Record<string, string>>;
  /** The run that the path names, where the pipeline looked it up. */
  readonly run?: Run;
  /** Parsed by the operation's query schema. */
  readonly query: unknown;
  /** Parsed by the operation's body schema; `{}` when an optional body was left out. */
  readonly body: unknown;
  /** The body as it was sent. */
  readonly bodyText: string;
  /** The body of routes whose handler reads it; empty on all others. */
  readonly bodyBytes: Uint8Array;
  readonly headers: IncomingHttpHeaders;
  /** Absent where the request met no socket. */
  readonly reply?: FastifyReply;
  /** For reads of large runs without a caller: on other routes the room is part of the caller. */
  readonly room: Pick<Visibility, "beforeLargeRead">;
  /** Reports a failure that comes too late to be the reply. */
  readonly report: (error: unknown) => void;
  /**
   * For handlers that wait: calls `refused` when the caller's key would no longer be admitted to this route. Returns what ends
   * the watching. Hijacked replies are watched anyway, and cut.
   */
  watchKey(refused: (error: AppError) => void): () => void;
  stream(answer: LongAnswer): Reply;
  /**
   * For commands: the idempotency outcome to commit together with the change. `reply` must be the very reply that the handler
   * returns for that result (`recordedReply`). Returns undefined when the request has no Idempotency-Key.
   */
  recorder<T>(reply: (result: T) => Reply): Recorder<T>;
}

export type Handler<H = Host> = (context: RequestContext<H>) => Reply | Promise<Reply>;

/** The handlers of a table of operations, with parameters, query and body as the table types them. */
export type HandlersOf<T, H = Host> = { readonly [Id in keyof T]: HandlerOf<T[Id], H> };

export type HandlerOf<O, H = Host> = (context: ContextOf<O, H>) => Reply | Promise<Reply>;

type ContextOf<O, H> = Omit<RequestContext<H>, "caller" | "params" | "run" | "query" | "body"> &
  CallerIn<O> &
  RunIn<O> & {
    readonly params: { readonly [Name in O extends { path: infer P } ? NamesIn<P> : never]: string };
    readonly query: O extends { query: infer S extends TSchema } ? Static<S> : undefined;
    readonly body: BodyOf<O>;
  };

type CallerIn<O> = O extends { access: "public" } ? unknown : { readonly caller: Caller };

/** The pipeline looks up the run that the path names for operations with input, unless the operation says otherwise. */
type RunIn<O> = O extends { looksUpRun: false | "identity" }
  ? unknown
  : O extends { path: `${string}{runId}${string}` } & ({ body: TSchema } | { query: TSchema })
    ? { readonly run: Run }
    : unknown;

type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

type BodyOf<O> = O extends { bodyAsRead: infer S extends TSchema }
  ? Static<S>
  : O extends { body: infer S extends TSchema }
    ? Static<S>
    : unknown;

/** The reply to a command, whose outcome under an Idempotency-Key is recorded in the commit of the command. */
export async function recordedReply<T>(
  context: Pick<RequestContext, "recorder">,
  reply: (result: T) => Reply,
  command: (record: Recorder<T>) => Promise<T>,
): Promise<Reply> {
  return reply(await command(context.recorder(reply)));
}

export function replyOf(context: Pick<RequestContext, "reply">): FastifyReply {
  if (!context.reply) throw new Error("a handler that writes to a socket was called without one");
  return context.reply;
}
