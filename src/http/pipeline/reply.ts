import { createHash } from "node:crypto";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { AppError } from "../../protocol/errors.ts";
import type { ErrorEnvelope } from "../../protocol/runs/api.ts";

type Headers = Readonly<Record<string, string>>;

/** A reply in one piece. */
export type Written =
  | { readonly status: number; readonly json: unknown; readonly headers?: Headers }
  | {
      readonly status: number;
      readonly raw: string | Uint8Array | null;
      readonly contentType?: string;
      readonly headers?: Headers;
    };

/** `hijacked`: the handler writes to the socket itself. */
export type Reply = Written | "hijacked";

/** A reply of any length, sent as its reader takes it. */
export interface LongAnswer {
  readonly contentType: string;
  readonly pieces: AsyncIterable<string>;
  /** How long a reader may take nothing before its connection is cut. */
  readonly stallMs?: number | undefined;
}

export function ok(json: unknown): Written {
  return { status: 200, json };
}

export function created(json: unknown): Written {
  return { status: 201, json };
}

export function accepted(json: unknown): Written {
  return { status: 202, json };
}

/** Text, so that it can be recorded under an Idempotency-Key. */
export const NO_CONTENT: Written = { status: 204, raw: "" };

/** Of requests that may find their result in place already. */
export function createdOrFound(json: { readonly created: boolean }): Written {
  return json.created ? created(json) : ok(json);
}

const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+(?:\s*;\s*[a-z0-9-]+="?[\w.+-]+"?)*$/i;

/**
 * Bytes of foreign origin. A browser must never run them as part of this origin, so they are always a download and their type is
 * never guessed; a content type that does not fit a header is replaced.
 */
export function download({ body, contentType }: { readonly body: Uint8Array; readonly contentType: string }): Written {
  const isPlain = contentType.length <= 256 && MEDIA_TYPE.test(contentType);
  return {
    status: 200,
    raw: body,
    contentType: isPlain ? contentType : "application/octet-stream",
    headers: { "content-disposition": "attachment", "content-security-policy": "sandbox; default-src 'none'" },
  };
}

export function serialize(reply: Written): { body: string | Uint8Array | null; contentType: string } {
  return "json" in reply
    ? { body: JSON.stringify(reply.json), contentType: "application/json" }
    : { body: reply.raw, contentType: reply.contentType ?? "application/octet-stream" };
}

/**
 * The reply to a request that failed. An error names parts of the request, so it is cleaned of secrets before it is sent: a key
 * that was sent in the wrong place must not come back in a reply that is logged and shown.
 */
export function errorReply(error: AppError, scrubber: Pick<Scrubber, "scrubValue">) {
  return { status: error.status, json: scrubber.scrubValue(envelopeOf(error)), headers: headersOf(error) };
}

/** Not cleaned: for errors that repeat no part of a request. */
export function envelopeOf({ code, message, details }: AppError): ErrorEnvelope {
  return { error: code, message, details: { ...details } };
}

function headersOf(error: AppError): Headers {
  const { status, retryAfterSeconds } = error;
  if (status === 401) return { "www-authenticate": "Bearer" };
  if (status === 405) return { allow: String(error.details["allowed"]) };
  return retryAfterSeconds === undefined ? NO_HEADERS : { "retry-after": String(retryAfterSeconds) };
}

const NO_HEADERS: Headers = {};

/** Whether an error is meant for the client. Every other error is sent as `internal_error` and logged whole. */
export function isForClient(error: unknown): error is AppError {
  return error instanceof AppError && (error.status !== 500 || error.code === "internal_error");
}

export function internalError(correlationId: string): AppError {
  return new AppError("internal_error", { correlationId });
}

/** A strong validator of exactly these bytes. */
export function etagOf(text: string | Uint8Array): string {
  return `"${digest(text)}"`;
}

export function digest(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** Whether `If-None-Match` does not name the validator. Weak comparison, as RFC 9110 asks for here. */
export function noneMatch(header: string | undefined, etag: string): boolean {
  if (header === undefined) return true;
  if (header === etag) return false;
  if (header.trim() === "*") return false;
  return !header.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === etag);
}
