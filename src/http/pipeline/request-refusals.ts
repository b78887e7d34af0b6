import type { IncomingMessage } from "node:http";
import { PROTOCOL_VERSION, PROTOCOL_VERSIONS } from "../../protocol/discovery.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { Operation } from "../../protocol/operation.ts";
import { OPERATIONS } from "../../protocol/operations.ts";
import { AFP_BASE } from "../../protocol/reviews/api.ts";
import { pathTest } from "./read-url.ts";

/**
 * The problem of a request whose host, caller, body or end is ambiguous: of two such headers Node reads the first, and a proxy in front may
 * have read the second.
 */
export function ambiguityOf({ headers, httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  if (headers.host === undefined && httpVersion === "1.1") return "HTTP/1.1 asks for a Host header";
  // HTTP/1.0 has no chunks: its readers would take the body for the next request.
  if (httpVersion === "1.0" && headers["transfer-encoding"] !== undefined) return "HTTP/1.0 has no Transfer-Encoding";
  if (rawHeaders.length > 2 * HEADER_LINES_MAX) return `it has more than ${HEADER_LINES_MAX} header lines`;
  const seen = ONCE.map(() => false);
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    const which = ONCE.findIndex((one) => one.length === name.length && one.toLowerCase() === name.toLowerCase());
    if (seen[which] === true) return `it has more than one ${ONCE[which]} header`;
    if (which >= 0) seen[which] = true;
  }
  return undefined;
}

/** Many more than clients and proxies send. */
const HEADER_LINES_MAX = 500;
const ONCE = ["Host", "Authorization", "Content-Type"] as const;

const VERSION = /^(0|[1-9]\d{0,8})(?:\.(?:0|[1-9]\d{0,8}))?$/;
/** Health, the front page and the console are outside the protocol and ignore the header. */
const OUTSIDE = /^\/(?:healthz|readyz|console(?:\/.*)?)?$/;
/** No version of the protocol has these paths: version 2 has unversioned paths. */
const NOWHERE = /^\/v2(?:\/|$)/;
const VERSIONED = /^\/v1(?:\/|$)/;

/**
 * The refusal of a request whose `OpenWOP-Version` is not served at its path. Only the major version selects, so `1`,
 * `1.0` and `1.7` are the same. Decided before authentication: the answer depends on the request line and this header alone.
 */
export function versionRefusal(asked: string | undefined, path: string): AppError | undefined {
  if (asked === undefined || OUTSIDE.test(path) || isNowhere(path)) return undefined;
  const major = VERSION.exec(asked)?.[1];
  if (major === undefined) return validationError("OpenWOP-Version must be major.minor, such as 1.1");
  if (major === majorOf(PROTOCOL_VERSION)) return undefined;
  const code = VERSIONED.test(path) ? "protocol_version_mismatch" : "protocol_version_unsupported";
  return new AppError(code, { version: asked, protocolVersions: PROTOCOL_VERSIONS });
}

function isNowhere(path: string): boolean {
  return NOWHERE.test(path);
}

function majorOf(version: string): string {
  return version.split(".")[0] ?? "";
}

interface Known {
  readonly test: RegExp;
  readonly methods: readonly string[];
}

const MAX_PATH = 200;

/** The error for a request that no route takes. It needs no authentication: the list of paths is public. */
export function unrouted(served: (operation: Operation) => boolean, ours: readonly string[]) {
  const known: Known[] = [...new Set(Object.values(OPERATIONS).map(({ path }) => path))].map((path) => ({
    test: pathTest(path),
    methods: methodsAt(path, served),
  }));

  return (method: string, path: string): AppError => {
    // Shown as a whole or not at all: scrubbing does not recognize a part of a secret.
    const shown = path.length <= MAX_PATH ? path : `/… (${path.length} characters)`;
    const named = decoded(path);
    // The Agent Feedback Protocol has its own names for these two errors.
    const isReview = named.startsWith(`${AFP_BASE}/`);
    const methods = known.find(({ test }) => test.test(named))?.methods ?? (ours.includes(path) ? READS : []);
    if (methods.length > 0) {
      const more = isReview ? { name: "MethodNotAllowed" } : {};
      return new AppError("method_not_allowed", { method, path: shown, allowed: methods.join(", "), ...more });
    }
    const token = unknownToken(path);
    if (token !== undefined) return token;
    return path.startsWith("/v1/") || path.startsWith("/console/") || path === "/v1" || isNowhere(path)
      ? new AppError("not_found", { what: "route", ...(isReview ? { name: "NotFound" } : {}) })
      : new AppError("unversioned_path", { path: shown });
  };
}

const TOKENS = "/v1/interrupts/";

/** The error for a token whose form no route takes: unknown tokens of any form are not found. */
export function unknownToken(path: string): AppError | undefined {
  return path.startsWith(TOKENS) ? new AppError("interrupt_not_found") : undefined;
}

const READS: readonly string[] = ["GET", "HEAD"];

function methodsAt(path: string, served: (operation: Operation) => boolean): string[] {
  const operations: readonly Operation[] = Object.values(OPERATIONS);
  return operations
    .filter((operation) => operation.path === path && served(operation))
    .flatMap(({ method }) => (method === "GET" ? READS : [method]))
    .sort();
}

/** As the router reads it: an escaped colon or slash is a plain one. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
