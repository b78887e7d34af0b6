import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative } from "node:path";
import { etagOf, noneMatch } from "../pipeline/etag.ts";
import type { Written } from "../pipeline/serialise.ts";

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

/** The page may load and call only this host, be framed by nobody and send no form anywhere. */
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
