import { AppError, ERRORS, type ErrorCode, type ErrorDetails } from "../../protocol/errors.ts";
import type { Client } from "../../sdk/client.ts";
import { connect as connectTo } from "../../sdk/connect.ts";
import { AbortError, ApiError, type AssayError, ConnectionError, TimeoutError } from "../../sdk/errors.ts";
import type { ClientSettings as SdkSettings } from "../../sdk/settings.ts";
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
    ...(fetch === undefined ? {} : { fetch }),
  });
}

const HERE = "http://here";
/** As long as a timer can wait. */
const NO_LIMIT_MS = 2 ** 31 - 1;

/** The same client for a host in this process. A fault of the host is thrown as it is. */
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
  if (!(error instanceof ApiError)) return new AppError("unusable_input", { problem: error.message });
  if (error.code === "unknown") {
    const reason = `it answered ${error.status} with something that is not an answer of Assay`;
    return new AppError("unreachable", { url, reason });
  }
  const { code, message, details, status } = error;
  const rebuilt = errorFrom({ error: code, message, details }, nearestCode(status));
  // The server cannot know where the key came from.
  if (code === "unauthenticated") rebuilt.message = keyProblem(key);
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

/** `fetch failed` alone helps nobody; the cause says what failed. */
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
