import { AppError } from "../../protocol/errors.ts";
import type { Operation } from "../../protocol/operation.ts";
import { OPERATIONS } from "../../protocol/operations.ts";
import { AFP_BASE } from "../../protocol/reviews/api.ts";
import { isNowhere } from "./protocol-version.ts";
import { pathTest } from "./route-pattern.ts";

interface Known {
  readonly test: RegExp;
  readonly methods: readonly string[];
}

const MAX_PATH = 200;

/**
 * What to say about a request that no route takes. Nobody has authenticated by then, and nobody need to: which paths
 * there are is public.
 */
export function unrouted(served: (operation: Operation) => boolean, ours: readonly string[]) {
  const known: Known[] = [...new Set(Object.values(OPERATIONS).map(({ path }) => path))].map((path) => ({
    test: pathTest(path),
    methods: methodsAt(path, served),
  }));

  return (method: string, path: string): AppError => {
    // Whole or not at all: a part of a secret is not recognised as one.
    const shown = path.length <= MAX_PATH ? path : `/… (${path.length} characters)`;
    const named = decoded(path);
    // The protocol that is spoken there has names of its own for these two.
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

/** The answer to a path whose token has a form that no route takes: unknown tokens are not found, whatever their form. */
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

/** As the router sees it: an escaped colon or slash is one. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
