import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { AppError } from "../../protocol/errors.ts";
import type { ErrorEnvelope } from "../../protocol/runs/api.ts";

/** An error as it goes out. */
export interface ErrorReply {
  readonly status: number;
  readonly json: ErrorEnvelope;
  readonly headers: Readonly<Record<string, string>>;
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

/**
 * Errors name what a request asked for, so each is cleaned of secrets before it is sent: a key that was sent in the wrong
 * place must not come back in an answer that is logged and shown.
 */
export function errorReply(error: AppError, scrubber: Pick<Scrubber, "scrubValue">): ErrorReply {
  return { status: error.status, json: scrubber.scrubValue(envelopeOf(error)), headers: headersOf(error) };
}

/** As it is; for errors that repeat nothing of a request. */
export function envelopeOf({ code, message, details }: AppError): ErrorEnvelope {
  return { error: code, message, details: { ...details } };
}

function headersOf(error: AppError): Readonly<Record<string, string>> {
  const { status, retryAfterSeconds } = error;
  if (status === 401) return { "www-authenticate": "Bearer" };
  if (status === 405) return { allow: String(error.details["allowed"]) };
  return retryAfterSeconds === undefined ? NO_HEADERS : { "retry-after": String(retryAfterSeconds) };
}

/** Whether an error is meant for the client. Everything else is told as `internal_error` and logged whole. */
export function isForClient(error: unknown): error is AppError {
  return error instanceof AppError && (error.status !== 500 || error.code === "internal_error");
}

export function internalError(correlationId: string): AppError {
  return new AppError("internal_error", { correlationId });
}
