import type { ClientResponse } from "./response.ts";

/** Brands instead of classes decide `instanceof`: two copies of this package recognise each other's errors. */
const brand = (name: string) => Symbol.for(`@assay/sdk ${name}`);

function branded(name: string, value: unknown): boolean {
  return typeof value === "object" && value !== null && brand(name) in value;
}

/** The class of everything that a client throws. */
export class AssayError extends Error {
  override readonly name: string = "AssayError";

  static brandName = "AssayError";
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: it is the class that is asked, which may be a special one
    return branded(this.brandName, value);
  }

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    // Each class of the chain leaves its brand; `new.target` is the most special one.
    for (let type = new.target; type?.brandName !== undefined; type = Object.getPrototypeOf(type)) {
      Object.defineProperty(this, brand(type.brandName), { value: true });
    }
  }
}

/** What the server answered in place of a success. */
export interface Failure {
  readonly status: number;
  /** One of the codes of docs/errors.md; `unknown` when the answer was not one of Assay. */
  readonly code: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** Names the request in the log of the server. */
  readonly requestId: string | undefined;
}

/** The server refused or failed. */
export class ApiError extends AssayError {
  override readonly name: string = "ApiError";
  static override brandName = "ApiError";

  readonly status: number;
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly requestId: string | undefined;

  constructor({ status, code, message, details, requestId }: Failure) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
  }
}

/** 400 and 422, and any 4xx without a class of its own. */
export class InvalidRequestError extends ApiError {
  override readonly name = "InvalidRequestError";
  static override brandName = "InvalidRequestError";
}
/** 401 */
export class UnauthenticatedError extends ApiError {
  override readonly name = "UnauthenticatedError";
  static override brandName = "UnauthenticatedError";
}
/** 403 */
export class ForbiddenError extends ApiError {
  override readonly name = "ForbiddenError";
  static override brandName = "ForbiddenError";
}
/** 404 and 410 */
export class NotFoundError extends ApiError {
  override readonly name = "NotFoundError";
  static override brandName = "NotFoundError";
}
/** 409 */
export class ConflictError extends ApiError {
  override readonly name = "ConflictError";
  static override brandName = "ConflictError";
}
/** 429 */
export class RateLimitError extends ApiError {
  override readonly name = "RateLimitError";
  static override brandName = "RateLimitError";
}
/** 5xx */
export class ServerError extends ApiError {
  override readonly name = "ServerError";
  static override brandName = "ServerError";
}

/** No answer, or one that broke off, or one that is not of Assay. */
export class ConnectionError extends AssayError {
  override readonly name: string = "ConnectionError";
  static override brandName = "ConnectionError";
}
/** No answer in time. */
export class TimeoutError extends ConnectionError {
  override readonly name = "TimeoutError";
  static override brandName = "TimeoutError";
}
/** The caller's `AbortSignal` ended the request. */
export class AbortError extends AssayError {
  override readonly name = "AbortError";
  static override brandName = "AbortError";
}

/** What a program throws in place of an error of ours; other errors are its own already. */
export function thrownAs(error: unknown, toError: ((error: AssayError) => Error) | undefined): unknown {
  return toError !== undefined && error instanceof AssayError ? toError(error) : error;
}

const BY_STATUS: Readonly<Record<number, typeof ApiError>> = {
  401: UnauthenticatedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  410: NotFoundError,
  429: RateLimitError,
};

/** The error that an answer without success stands for. */
export async function errorOf(response: ClientResponse): Promise<AssayError> {
  const { status, headers } = response;
  const envelope = envelopeOf(await response.text().catch(() => ""));
  const requestId = headers.get("x-request-id") ?? undefined;
  const Class = BY_STATUS[status] ?? (status >= 500 ? ServerError : InvalidRequestError);
  const unknown = `The server answered ${status} with something that is not an answer of Assay`;
  return new Class({ status, requestId, code: "unknown", message: unknown, details: {}, ...envelope });
}

function envelopeOf(text: string): Pick<Failure, "code" | "message" | "details"> | undefined {
  try {
    const { error, message, details = {} } = JSON.parse(text);
    return typeof error === "string" && typeof message === "string" ? { code: error, message, details } : undefined;
  } catch {
    return undefined;
  }
}
