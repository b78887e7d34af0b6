import { visibleRun } from "../engine/execute.ts";
import type { Host } from "../engine/host.ts";
import { CALLS, type Calls } from "../protocol/calls.ts";
import type { Caller } from "../protocol/identity/identity.ts";
import type { Operation } from "../protocol/operation.ts";
import type { OperationId } from "../protocol/operations.ts";
import { ROUTES } from "../protocol/routes.ts";
import { parse } from "../protocol/schema.ts";
import type { Handler, RequestContext } from "./pipeline/handler.ts";
import { pathTest, queryReader } from "./pipeline/read-url.ts";
import type { LongAnswer, Reply } from "./pipeline/reply.ts";
import { errorReply, isForClient, serialize } from "./pipeline/reply.ts";

/** The handlers of the calls of one noun. Both are loaded when a call needs them, by the operation's name. */
export interface Room<H> {
  handler(id: OperationId): Promise<Handler<H> | undefined>;
  /** How query and body are read. Absent where no call has a query, and bodies are taken as the client made them. */
  operation?(id: OperationId): Promise<Operation | undefined>;
}

/** By the nouns of the client. */
export type Rooms<H> = { readonly [Noun in keyof Calls]?: Room<H> };

interface InProcess<H> {
  readonly host: H;
  readonly caller: Caller;
  readonly rooms: Rooms<H>;
}

/** The parts of a response that a client needs. */
export interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: ReadableStream<Uint8Array> | null;
  text(): Promise<string>;
  blob(): Promise<Blob>;
}

export interface Asked {
  readonly method?: string;
  readonly body?: unknown;
}
export type InProcessFetch = (url: string, asked: Asked) => Promise<Answer>;

/**
 * In place of `fetch`, for a client in the process of its host: requests meet no socket and are those of one caller, who may do
 * everything. What is no refusal but a fault is thrown as it is.
 */
export function inProcessFetch<H extends Pick<Host, "store" | "scrubber">>({
  host,
  caller,
  rooms,
}: InProcess<H>): InProcessFetch {
  return async (url, { method = "GET", body }) => {
    const { pathname, search } = new URL(url);
    const call = callAt(method, pathname);
    const room = call && rooms[call.noun];
    const handler = call && (await room?.handler(call.id));
    if (call === undefined || room === undefined || handler === undefined) {
      throw new Error(`nothing answers ${method} ${pathname} in this process`);
    }
    const operation = (call.hasInput ? await room.operation?.(call.id) : undefined) ?? {};
    try {
      let long: LongAnswer | undefined;
      const stream = (answer: LongAnswer): Reply => {
        long = answer;
        return "hijacked";
      };
      const given = { params: call.params, search, bodyBytes: bytesOf(body), stream };
      const reply = await handler(await contextOf(operation, given));
      return long === undefined ? answerOf(reply) : longAnswer(long);
    } catch (error) {
      if (!isForClient(error)) throw error;
      return answerOf(errorReply(error, host.scrubber));
    }
  };

  async function contextOf(operation: Partial<Operation>, given: Given): Promise<RequestContext<H>> {
    const { params, search, bodyBytes, stream } = given;
    const { body: schema, bodyAsRead = schema, query, takesText } = operation;
    const bodyText = new TextDecoder().decode(bodyBytes);
    const body: unknown = bodyText === "" || takesText === true ? {} : JSON.parse(bodyText);
    if (bodyAsRead !== undefined && takesText !== true) parse(bodyAsRead, body, "body");
    const { runId } = params;
    const looksUp = operation.looksUpRun !== false && runId !== undefined && (schema ?? query) !== undefined;
    return {
      host,
      caller,
      params,
      requestId: "here",
      headers: {},
      query: query === undefined ? undefined : queryReader(query)(search),
      body,
      bodyText,
      bodyBytes,
      room: {},
      ...(looksUp ? { run: await visibleRun(host, caller, runId) } : {}),
      watchKey: () => () => {},
      recorder: () => () => undefined,
      report: (error) => {
        throw error;
      },
      stream,
    };
  }
}

interface Given extends Pick<RequestContext, "bodyBytes" | "stream"> {
  readonly params: Readonly<Record<string, string>>;
  readonly search: string;
}

function bytesOf(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return new TextEncoder().encode(typeof body === "string" ? body : "");
}

interface CallAt {
  readonly noun: keyof Calls;
  /** A query or a body. */
  readonly hasInput: boolean;
  readonly id: OperationId;
  readonly params: Readonly<Record<string, string>>;
}

/** The call that sends such a request, found without the table of operations, which takes its time to load. */
export function callAt(method: string, pathname: string): CallAt | undefined {
  for (const noun of nouns) {
    for (const [verb, id] of Object.entries<OperationId>(CALLS[noun])) {
      const [routeMethod, template = "", flags = ""] = ROUTES[noun]?.[verb]?.split(" ") ?? [];
      if (routeMethod !== method) continue;
      const found = pathTest(template).exec(pathname);
      if (found !== null) return { noun, id, params: decoded(found.groups ?? {}), hasInput: /^[iq]/.test(flags) };
    }
  }
  return undefined;
}

const nouns = Object.keys(CALLS) as (keyof Calls)[];

function decoded(groups: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]));
}

export function answerOf(reply: Reply): Answer {
  if (reply === "hijacked") throw new Error("a handler that writes to a socket cannot answer in this process");
  const { body, contentType } = serialize(reply);
  const { status, headers = {} } = reply;
  const text = async () => (typeof body === "string" ? body : new TextDecoder().decode(body ?? undefined));
  return {
    ok: status < 400,
    status,
    headers: { get: (name) => headers[name] ?? (name === "content-type" ? contentType : null) },
    body: null,
    text,
    blob: async () => new Blob(body === null ? [] : [body as string | Uint8Array<ArrayBuffer>], { type: contentType }),
  };
}

function longAnswer({ pieces, contentType }: LongAnswer): Answer {
  const text = async () => {
    let all = "";
    for await (const piece of pieces) all += piece;
    return all;
  };
  return {
    ok: true,
    status: 200,
    headers: { get: (name) => (name === "content-type" ? contentType : null) },
    get body() {
      return ReadableStream.from(pieces).pipeThrough(new TextEncoderStream());
    },
    text,
    blob: async () => new Blob([await text()], { type: contentType }),
  };
}
