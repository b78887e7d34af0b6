import type { Caller } from "../protocol/identity.ts";
import type { Log } from "./deps.ts";

export interface LoggedRequest {
  readonly requestId: string;
  readonly caller: Caller;
  /** What the route asks for: a scope, or "authenticated". */
  readonly scope: string;
  readonly method: string;
  readonly route: string;
  readonly url: string;
  readonly status: number;
  readonly latencyMs: number;
}

/**
 * One line per authenticated request. Never a header, a body, a query value or a key; a route whose path carries a
 * token is logged by its pattern only.
 */
export function logRequest(log: Log, request: LoggedRequest): void {
  const { requestId, caller, scope, method, route, url, status, latencyMs } = request;
  log.info(
    {
      requestId,
      keyId: caller.keyId,
      tenant: caller.tenant,
      principal: caller.principal,
      scope,
      method,
      route,
      path: route.includes("{token}") ? route : pathOf(url),
      status,
      latencyMs: Math.round(latencyMs * 100) / 100,
    },
    "request",
  );
}

export function pathOf(url: string): string {
  const end = url.indexOf("?");
  return end < 0 ? url : url.slice(0, end);
}
