import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative } from "node:path";
import { AppError } from "../../protocol/errors.ts";
import type { Store } from "../../store/port/store.ts";
import type { Written } from "../pipeline/reply.ts";
import { etagOf, noneMatch } from "../pipeline/reply.ts";

export interface SystemRequest {
  /** The part of the path after `/console/`. */
  readonly rest: string;
  readonly ifNoneMatch: string | undefined;
}

export type SystemRoute = (request: SystemRequest) => Written | undefined | Promise<Written | undefined>;

export interface SystemDeps {
  readonly store: Pick<Store, "ping">;
  readonly version: string;
  readonly consoleDir: string | undefined;
  isClosing(): boolean;
  /** Whether the audit chain of a tenant is not signed because it contradicts itself or its anchor. */
  isAuditRefused(): boolean;
}

/** Routes outside the protocol, without a key: health, and the console's files. */
export function systemRoutes({ store, version, consoleDir, ...state }: SystemDeps): Record<string, SystemRoute> {
  const health = { "/healthz": healthz, "/readyz": readiness(store, state) };
  if (consoleDir === undefined) return { ...health, "/": () => front(version) };
  const console = consolePages(consoleDir);
  return {
    ...health,
    "/": toConsole,
    "/console": toConsole,
    "/console/*": ({ rest, ifNoneMatch }) => console(rest, ifNoneMatch),
  };
}

function toConsole(): Written {
  return { status: 302, raw: null, headers: { location: "/console/", "cache-control": "no-store" } };
}

/** The front page of a host without a console. */
function front(version: string): Written {
  const links = {
    discovery: "/.well-known/openwop",
    openapi: "/v1/openapi.json",
    asyncapi: "/v1/asyncapi.json",
    schemas: "/v1/schemas",
  };
  return { status: 200, json: { name: "assay", version, ...links } };
}

const ALIVE: Written = { status: 200, json: { status: "ok" }, headers: { "cache-control": "no-store" } };

/** Whether the process answers at all. A database that is away must not get it restarted. */
export function healthz(): Written {
  return ALIVE;
}

const PING_TIMEOUT_MS = 2000;

const AUDIT_REFUSED: Written = { ...ALIVE, json: { status: "ok", audit: "refused" } };

/** How long an answer of the database counts: anyone may ask for it, and each question is a write. */
const KEEP_MS = 1000;

/**
 * Whether requests should be sent here now: the host is not closing, and its database takes a write that lasts. Throws
 * `unavailable`. Questions that come together, or within a second, share one write. A host that refuses to sign an audit chain is
 * ready: everything else works, and taking all hosts out of service would hide the finding.
 */
export function readiness(
  store: Pick<Store, "ping">,
  { isClosing, isAuditRefused }: { isClosing: () => boolean; isAuditRefused: () => boolean },
  nowMs = () => performance.now(),
): () => Promise<Written> {
  let last: { readonly atMs: number; readonly answer: Promise<void> } | undefined;
  return async () => {
    if (isClosing()) throw new AppError("unavailable", { reason: "The host is shutting down" });
    const atMs = nowMs();
    if (last === undefined || atMs - last.atMs >= KEEP_MS) {
      last = { atMs, answer: inTime(store) };
      // Asked again by the next request, which reports it.
      last.answer.catch(() => {});
    }
    await last.answer;
    return isAuditRefused() ? AUDIT_REFUSED : ALIVE;
  };
}

async function inTime(store: Pick<Store, "ping">): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new AppError("unavailable", { reason: "The database does not answer" });
    timer = setTimeout(() => reject(error), PING_TIMEOUT_MS);
  });
  try {
    await Promise.race([store.ping(), late]);
  } finally {
    clearTimeout(timer);
  }
}

export type Console = (path: string, ifNoneMatch: string | undefined) => Written | undefined;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".txt": "text/plain; charset=utf-8",
};

/** The page may load and call only this host, never be framed, and send no form. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const SECURITY = {
  "content-security-policy": POLICY,
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
} as const;

interface Page {
  readonly body: Buffer;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Where the build puts files whose names carry a hash of their bytes. */
const HASHED = "assets/";

/**
 * The built console, read into memory once. A request is looked up among the names that were found then, so there is
 * no path to climb out of. What is not a file is a view of the page itself: it gets `index.html`.
 */
export function consolePages(dir: string): Console {
  const pages = new Map<string, Page>();
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const name = relative(dir, file).replaceAll("\\", "/");
    pages.set(name, pageOf(name, readFileSync(file)));
  }

  return (path, ifNoneMatch) => {
    const name = path === "" ? "index.html" : path;
    const page = pages.get(name) ?? (extname(name) === "" ? pages.get("index.html") : undefined);
    if (page === undefined) return undefined;
    const { body, contentType, headers } = page;
    if (!noneMatch(ifNoneMatch, headers["etag"] ?? "")) return { status: 304, raw: null, headers };
    return { status: 200, raw: body, contentType, headers };
  };
}

function pageOf(name: string, body: Buffer): Page {
  const cacheControl = name.startsWith(HASHED) ? "public, max-age=31536000, immutable" : "no-cache";
  const contentType = TYPES[extname(name)] ?? "application/octet-stream";
  return { body, contentType, headers: { ...SECURITY, "cache-control": cacheControl, etag: etagOf(body) } };
}
