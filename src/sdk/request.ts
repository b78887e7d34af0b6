import { AbortError, AssayError, ConnectionError, errorOf, TimeoutError } from "./errors.ts";
import { type ClientResponse, WholeResponse } from "./response.ts";
import type { CallOptions, ClientSettings } from "./settings.ts";

/** One request, with all that repeats of it share. */
export interface ClientRequest {
  readonly method: string;
  /** With its parameters and query. */
  readonly path: string;
  readonly accept: string;
  /** Sent as it is when it is text or bytes, else as JSON. */
  readonly body?: unknown;
  /** The server recognises repeats by an idempotency key. */
  readonly keyed: boolean;
  /** The answer is read as it comes; others are read to their end before the call has ended. */
  readonly streamed: boolean;
}

const TIMEOUT_MS = 60_000;
const RETRIES = 2;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 8_000;
/** A server that asks for more patience is answered with its error: the caller decides. */
const LONGEST_WAIT_MS = 60_000;

/** The response when it is a success; throws an `AssayError` otherwise. */
export async function send(
  settings: ClientSettings,
  request: ClientRequest,
  options: CallOptions = {},
): Promise<ClientResponse> {
  const retries = options.retries ?? settings.retries ?? RETRIES;
  const key = request.keyed ? (options.idempotencyKey ?? randomKey()) : undefined;
  const init = initOf(settings, request, options, key);
  for (let attempt = 0; ; attempt++) {
    const answer = await attemptOnce(settings, request, init, options).catch((error: AssayError) => error);
    if (!(answer instanceof AssayError) && answer.ok) return answer;
    const delay = attempt < retries ? delayBefore(answer, attempt, isRepeatable(request)) : undefined;
    if (delay === undefined) throw answer instanceof AssayError ? answer : await errorOf(answer);
    await sleep(delay, options.signal);
  }
}

/** A request that may have been carried out is not repeated, unless that comes to the same. */
function isRepeatable({ method, keyed }: ClientRequest): boolean {
  return keyed || method !== "POST";
}

/** How long to wait before the request is sent again; undefined when that is of no use. */
function delayBefore(answer: ClientResponse | AssayError, attempt: number, repeatable: boolean): number | undefined {
  if (answer instanceof AssayError) {
    return answer instanceof ConnectionError && repeatable
      ? backOff(attempt, FIRST_DELAY_MS, LONGEST_DELAY_MS)
      : undefined;
  }
  const asked = retryAfterMs(answer);
  const { status } = answer;
  const mayPass =
    status === 429 || (repeatable && (status === 408 || status >= 500 || (status === 409 && asked !== undefined)));
  if (!mayPass || (asked ?? 0) > LONGEST_WAIT_MS) return undefined;
  return asked ?? backOff(attempt, FIRST_DELAY_MS, LONGEST_DELAY_MS);
}

/** Doubles with each attempt, up to a quarter of it taken off by chance, so that many clients do not return together. */
export function backOff(attempt: number, firstMs: number, longestMs: number): number {
  return Math.min(longestMs, firstMs * 2 ** attempt) * (1 - Math.random() / 4);
}

function retryAfterMs({ headers }: ClientResponse): number | undefined {
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

async function attemptOnce(
  settings: ClientSettings,
  { path, streamed }: ClientRequest,
  init: RequestInit,
  options: CallOptions,
): Promise<ClientResponse> {
  const { signal } = options;
  if (signal?.aborted) throw aborted(signal);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), options.timeoutMs ?? settings.timeoutMs ?? TIMEOUT_MS);
  const signals = signal === undefined ? [late.signal] : [late.signal, signal];
  const ask = settings.fetch ?? ((url: string, given: RequestInit) => fetch(url, given));
  try {
    const response = await ask(settings.url.replace(/\/+$/, "") + path, { ...init, signal: AbortSignal.any(signals) });
    return streamed && response.ok ? response : new WholeResponse(response, await response.text());
  } catch (error) {
    if (signal?.aborted) throw aborted(signal);
    throw late.signal.aborted ? timedOut(settings) : unreachable(settings, error);
  } finally {
    clearTimeout(timer);
  }
}

function initOf(settings: ClientSettings, request: ClientRequest, options: CallOptions, key?: string): RequestInit {
  const { method, body, accept } = request;
  const sent =
    body === undefined || typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
  const headers = {
    accept,
    authorization: settings.key === undefined ? undefined : `Bearer ${settings.key}`,
    "content-type": sent === undefined ? undefined : contentType(sent),
    "idempotency-key": key,
    ...settings.headers,
    ...options.headers,
  };
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  // A key is for one server: a redirect is refused, wherever it leads.
  const init: RequestInit = { method, headers: given, redirect: "error" };
  return sent === undefined ? init : { ...init, body: sent as string | Uint8Array<ArrayBuffer> };
}

/** An archive says what it is by its first bytes. */
function contentType(body: string | Uint8Array): string {
  if (typeof body === "string" || body[0] === 0x7b) return "application/json";
  return body[0] === 0x1f && body[1] === 0x8b ? "application/gzip" : "application/x-tar";
}

function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function aborted(signal: AbortSignal): AbortError {
  return new AbortError("The request was aborted", { cause: signal.reason });
}

export function timedOut({ url }: ClientSettings): TimeoutError {
  return new TimeoutError(`No answer from ${url}: it did not answer in time`);
}

/** `fetch failed` alone says little: the cause says what failed. */
export function unreachable({ url }: ClientSettings, error: unknown): ConnectionError {
  const { cause } = error as { cause?: unknown };
  const reason = cause instanceof Error && cause.message !== "" ? cause : error;
  return new ConnectionError(`No answer from ${url}: ${reason instanceof Error ? reason.message : String(reason)}`, {
    cause: error,
  });
}

/** Ends early, without an error, when the signal is aborted. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    if (signal?.aborted) done();
    else signal?.addEventListener("abort", done);
  });
}
