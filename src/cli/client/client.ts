import { defined } from "../../protocol/defined.ts";
import { AppError, ERRORS, type ErrorCode, unusableInput } from "../../protocol/errors.ts";
import type { ErrorEnvelope } from "../../protocol/runs/api.ts";
import type { Client } from "../../sdk/client.ts";
import { connect as connectTo } from "../../sdk/connect.ts";
import { AbortError, ApiError, type AssayError, ConnectionError, TimeoutError } from "../../sdk/errors.ts";
import type { EventStream } from "../../sdk/event-stream.ts";
import type { ClientSettings as SdkSettings } from "../../sdk/settings.ts";
import type { Io } from "../output/io.ts";
import type { Config } from "../settings/settings.ts";

export type { Client } from "../../sdk/client.ts";

export interface ClientSettings extends Pick<Config, "url" | "key" | "timeoutMs"> {
  readonly fetch?: SdkSettings["fetch"];
}

/** The client of the command line: one attempt for each request, and the server's errors rebuilt as our own. */
export function connect({ url, key, timeoutMs, fetch }: ClientSettings): Client {
  return connectTo({
    url,
    key,
    timeoutMs,
    retries: 0,
    toError: (error) => appError(error, url, key),
    ...defined({ fetch }),
  });
}

const HERE = "http://here";
/** The longest delay of a timer. */
const NO_LIMIT_MS = 2 ** 31 - 1;

/** The same client for a host in this process. An error of the host is thrown unchanged. */
export function connectHere(fetch: NonNullable<SdkSettings["fetch"]>): Client {
  return connectTo({
    url: HERE,
    retries: 0,
    timeoutMs: NO_LIMIT_MS,
    fetch,
    toError: (error) =>
      error instanceof ConnectionError && error.cause instanceof Error ? error.cause : appError(error, HERE, HERE),
  });
}

function appError(error: AssayError, url: string, key: string | undefined): Error {
  if (error instanceof ConnectionError)
    return new AppError("unreachable", { url, reason: reasonOf(error) }, { cause: error });
  if (error instanceof AbortError) return error;
  if (!(error instanceof ApiError)) return unusableInput(error.message);
  if (error.code === "unknown") {
    const reason = `it answered ${error.status} with something that is not an answer of Assay`;
    return new AppError("unreachable", { url, reason });
  }
  const { code, message, details, status } = error;
  const rebuilt = errorFrom({ error: code, message, details }, nearestCode(status));
  // The server cannot know where the key came from.
  if (code === "unauthenticated") rebuilt.message = key === undefined ? KEY_MISSING : KEY_UNKNOWN;
  return rebuilt;
}

/** Rebuilds an error of the server with its message. A code that this version does not know is replaced by `nearest`. */
export function errorFrom({ error, message, details = {} }: ErrorEnvelope, nearest: ErrorCode): AppError {
  const code = Object.hasOwn(ERRORS, error) ? (error as ErrorCode) : undefined;
  const rebuilt = new AppError(code ?? nearest, code ? details : { ...details, serverCode: error });
  rebuilt.message = message;
  return rebuilt;
}

const KEY_MISSING = "This needs an API key: set ASSAY_KEY, or use --key. `assay serve` prints one on its first start.";
const KEY_UNKNOWN = "The server does not know this API key. Look at ASSAY_KEY or --key, and at the server's address.";

function nearestCode(status: number): ErrorCode {
  if (status === 401) return "unauthenticated";
  if (status === 403) return "forbidden";
  return status >= 500 ? "unavailable" : "validation_error";
}

/** The reason for a failed connection. It is in the cause: the error of `fetch` says only that it failed. */
function reasonOf(thrown: ConnectionError): string {
  if (thrown instanceof TimeoutError) return "it did not answer in time";
  const { cause: error } = thrown;
  if (error instanceof SyntaxError) return "what answers there is not an Assay server";
  if (!(error instanceof Error)) return thrown.message;
  const { cause } = error;
  if (cause instanceof Error && /wrong version number/.test(cause.message)) {
    return "it does not speak TLS, so the address begins with http, not https";
  }
  if (cause instanceof AggregateError && cause.errors[0] instanceof Error) return cause.errors[0].message;
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message;
}

/** The answer to a request; undefined where it is refused with this code. */
export async function unlessRefused<T>(code: ErrorCode, asked: PromiseLike<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof AppError && error.code === code) return undefined;
    throw error;
  }
}

const PAGE_MAX = 200;

/**
 * The first `limit` items of a list, which is the member `name` of its pages, and the cursor of the next page. The server may send short
 * pages.
 */
export async function readUpTo<Name extends string, Item>(
  limit: number,
  name: Name,
  read: (page: { readonly limit: number; readonly cursor: string | undefined }) => PromiseLike<Listed<Name, Item>>,
): Promise<Listed<Name, Item>> {
  const items: Item[] = [];
  let nextCursor: string | undefined;
  do {
    const page = await read({ limit: Math.min(limit - items.length, PAGE_MAX), cursor: nextCursor });
    items.push(...page[name]);
    nextCursor = page.nextCursor;
  } while (nextCursor !== undefined && items.length < limit);
  return defined({ [name]: items, nextCursor }) as Listed<Name, Item>;
}

type Listed<Name extends string, Item> = Readonly<Record<Name, Item[]>> & { readonly nextCursor?: string };

/** A frame of one of the client's streams. */
export type FrameOf<Follow extends (...args: never) => unknown> =
  ReturnType<Follow> extends EventStream<infer Frame> ? Frame : never;

/** A handler for `onReconnect` of streams: on a terminal, it reports the lost connection. */
export function reconnectNotice(io: Io): (error: Error) => void {
  return ({ message }) => {
    if (io.errIsTerminal) io.err(`Connection lost (${message}); trying again.`);
  };
}
