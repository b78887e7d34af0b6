import { AppError, ERRORS, type ErrorCode, type ErrorDetails } from "../../protocol/errors.ts";
import type { Config } from "../settings/settings.ts";
import type { patientFetch } from "./patient-fetch.ts";

export interface ClientSettings extends Pick<Config, "url" | "key" | "timeoutMs"> {
  /** In place of `fetch`, for POSTs whose answers take long. */
  readonly post?: typeof patientFetch;
}

export interface Request {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as it is when it is text or bytes, else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** What the client commands use to talk to a server. Failures are the server's own errors, rebuilt. */
export interface Client {
  json<T>(path: string, request?: Request): Promise<T>;
  text(path: string, request?: Request): Promise<string>;
  /** The answer's body as it arrives; `signal` ends it. The time limit covers the wait for its beginning only. */
  open(path: string, request: Request, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
}

export function connect(settings: ClientSettings): Client {
  const read = async <T>(path: string, request: Request, body: (response: Response) => Promise<T>): Promise<T> => {
    const signal = AbortSignal.timeout(settings.timeoutMs);
    const response = await send(settings, path, request, signal);
    try {
      return await body(response);
    } catch (error) {
      throw unreachable(settings.url, error);
    }
  };
  return {
    json: <T>(path: string, request: Request = {}) => read(path, request, (response) => response.json() as Promise<T>),
    text: (path, request = {}) => read(path, request, (response) => response.text()),
    open: (path, request, signal) => openStream(settings, path, request, signal),
  };
}

async function openStream(settings: ClientSettings, path: string, request: Request, signal: AbortSignal) {
  const begun = new AbortController();
  const timer = setTimeout(() => begun.abort(new Error("it did not answer in time")), settings.timeoutMs);
  try {
    const response = await send(settings, path, request, AbortSignal.any([signal, begun.signal]));
    if (!response.body) throw new AppError("unreachable", { url: settings.url, reason: "the answer has no body" });
    return response.body as ReadableStream<Uint8Array>;
  } finally {
    clearTimeout(timer);
  }
}

/** The response when it is a success; throws otherwise. */
async function send(settings: ClientSettings, path: string, request: Request, signal: AbortSignal): Promise<Response> {
  const { method = "GET", body, query = {}, headers = {} } = request;
  const url = new URL(settings.url + path);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  const ask = method === "POST" ? (settings.post ?? fetch) : fetch;
  let response: Response;
  try {
    response = await ask(url, {
      method,
      signal,
      headers: compact({
        accept: "application/json",
        ...(settings.key === undefined ? {} : { authorization: `Bearer ${settings.key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      }),
      ...(body === undefined ? {} : { body: isSentAsIs(body) ? body : JSON.stringify(body) }),
      redirect: "error",
    });
  } catch (error) {
    throw unreachable(settings.url, error);
  }
  if (response.ok) return response;
  throw await errorOf(response, settings);
}

function isSentAsIs(body: unknown): body is string | Uint8Array<ArrayBuffer> {
  return typeof body === "string" || body instanceof Uint8Array;
}

async function errorOf(response: Response, { url, key }: ClientSettings): Promise<AppError> {
  const envelope = envelopeOf(await response.text().catch(() => ""));
  if (!envelope) {
    const reason = `it answered ${response.status} with something that is not an answer of Assay`;
    return new AppError("unreachable", { url, reason });
  }
  const rebuilt = errorFrom(envelope, nearestCode(response.status));
  // The server cannot know where the key came from.
  if (envelope.error === "unauthenticated") rebuilt.message = keyProblem(key);
  return rebuilt;
}

interface Envelope {
  readonly error: string;
  readonly message: string;
  readonly details?: ErrorDetails;
}

/** The server's error, in its own words, since it may be of another version than we are; then `nearest` stands for its code. */
export function errorFrom({ error, message, details = {} }: Envelope, nearest: ErrorCode): AppError {
  const code = Object.hasOwn(ERRORS, error) ? (error as ErrorCode) : undefined;
  const rebuilt = new AppError(code ?? nearest, code ? details : { ...details, serverCode: error });
  rebuilt.message = message;
  return rebuilt;
}

function keyProblem(key: string | undefined): string {
  return key === undefined
    ? "This needs an API key: set ASSAY_KEY, or use --key. `assay serve` prints one on its first start."
    : "The server does not know this API key. Look at ASSAY_KEY or --key, and at the server's address.";
}

function nearestCode(status: number): ErrorCode {
  if (status === 401) return "unauthenticated";
  if (status === 403) return "forbidden";
  return status >= 500 ? "unavailable" : "validation_error";
}

function envelopeOf(text: string): Envelope | undefined {
  try {
    const parsed = JSON.parse(text);
    return typeof parsed?.error === "string" && typeof parsed.message === "string" ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function unreachable(url: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  return new AppError("unreachable", { url, reason: reasonOf(error) }, { cause: error });
}

/** `fetch failed` alone helps nobody; the cause says what failed. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return "it did not answer in time";
  if (error instanceof SyntaxError) return "what answers there is not an Assay server";
  if (error.cause instanceof Error && /wrong version number/.test(error.cause.message)) {
    return "it does not speak TLS, so the address begins with http, not https";
  }
  const { cause } = error;
  if (cause instanceof AggregateError && cause.errors[0] instanceof Error) return cause.errors[0].message;
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message;
}

function compact(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
