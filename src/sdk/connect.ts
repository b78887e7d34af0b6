import { ROUTES } from "../protocol/routes.ts";
import { Call, LinesCall, PageCall } from "./call.ts";
import type { Client } from "./client.ts";
import { AssayError, ConnectionError, thrownAs } from "./errors.ts";
import { EventStream } from "./event-stream.ts";
import { type GateCalls, gateCalls } from "./gate-request.ts";
import { type ClientRequest, send } from "./request.ts";
import type { ClientResponse } from "./response.ts";
import { runStreamEnd } from "./run-stream.ts";
import type { CallOptions, CallOptionsWith, ClientSettings } from "./settings.ts";

type Query = Readonly<Record<string, unknown>>;
type Method = (...args: unknown[]) => unknown;

/** A client of one host. It holds no connection: nothing has to be closed. */
export function connect(settings: ClientSettings): Client & { readonly gates: GateCalls } {
  const nouns = Object.entries(ROUTES).map(([noun, verbs]) => {
    const methods = Object.entries(verbs).map(([verb, route]) => [verb, method(settings, route)]);
    return [noun, Object.fromEntries(methods)];
  });
  const client: Client = Object.fromEntries(nouns);
  return { ...client, gates: { ...client.gates, ...gateCalls(client) } };
}

/**
 * The method of a route, which is written as `POST /v1/runs/{runId}:fork ik`. The letters say what the call takes and gives: `i` a body,
 * `q` query parameters, both with the query among the options; `k` it is recognised by an idempotency key; `t` text, `b` bytes, `l` lines,
 * `e` a stream of events; `>runs` pages of these; else JSON.
 */
function method(settings: ClientSettings, route: string): Method {
  const [verb = "", template = "", flags = ""] = route.split(" ");
  const [letters = "", items] = flags.split(">");
  const is = (letter: string) => letters.includes(letter);
  const parameters = template.split("{").length - 1;
  const inputs = is("i") || is("q") ? 1 : 0;

  return (...args) => {
    const input = inputs === 0 ? undefined : args[parameters];
    const options = (args[parameters + inputs] ?? {}) as CallOptionsWith<Query>;
    const values = args.slice(0, parameters);
    const query = (is("i") ? options.query : (input as Query | undefined)) ?? {};
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => segment(settings, name, values.shift()));
    const request: ClientRequest = {
      method: verb,
      path: path + search(query),
      accept: is("e") ? "text/event-stream" : is("l") ? "application/x-ndjson" : "application/json, */*;q=0.5",
      keyed: is("k"),
      streamed: is("e") || is("l") || is("b") || is("t"),
      ...(is("i") ? { body: input ?? {} } : {}),
    };
    if (is("e")) return eventStream(settings, request, path, query, options);
    const response = sent(settings, request, options);
    if (is("l")) return new LinesCall(response, settings);
    if (is("t")) return new Call(response, (answer) => answer.text());
    if (is("b")) return new Call(response, (answer) => answer.blob());
    const readJson = <T>(answer: ClientResponse) => jsonOf<T>(answer, settings);
    if (items === undefined) return new Call(response, readJson);
    const next = (cursor: string) => {
      const { idempotencyKey: _, ...rest } = options;
      const at = { ...request, path: path + search({ ...query, cursor }) };
      return new Call(sent(settings, at, rest), readJson<object>);
    };
    return new PageCall(response, readJson<object>, items, next);
  };
}

function eventStream(
  settings: ClientSettings,
  request: ClientRequest,
  path: string,
  query: Query,
  options: CallOptions,
) {
  const { streamMode = "updates" } = query;
  const end = path.startsWith("/v1/runs/") ? runStreamEnd(settings, path, String(streamMode), options) : undefined;
  return new EventStream(settings, request, options, end);
}

/** A segment that is empty, or a step in a path, would make another path. */
function segment({ toError }: ClientSettings, name: string, value: unknown): string {
  if (typeof value === "string" && !/^\.{0,2}$/.test(value)) return encodeURIComponent(value);
  throw thrownAs(new AssayError(`"${value}" cannot be the ${name} of anything`), toError);
}

function search(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? "" : `?${new URLSearchParams(given as [string, string][])}`;
}

async function sent(settings: ClientSettings, request: ClientRequest, options: CallOptions): Promise<ClientResponse> {
  try {
    return await send(settings, request, options);
  } catch (error) {
    throw thrownAs(error, settings.toError);
  }
}

async function jsonOf<T>(response: ClientResponse, { toError }: ClientSettings): Promise<T> {
  const text = await response.text();
  try {
    return (text === "" ? undefined : JSON.parse(text)) as T;
  } catch (cause) {
    const error = new ConnectionError("What answered is not an Assay server: it sent no JSON", { cause });
    throw thrownAs(error, toError);
  }
}
