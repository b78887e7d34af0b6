import type { Scrubber } from "../../formats/secrets/scrub.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
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
 * token is logged by its pattern only. What a client wrote is cleaned here, and not the line as a whole: most of a line is ours.
 */
export function logRequest(log: Log, { scrubText, scrubValue }: Scrubber, request: LoggedRequest): void {
  const { requestId, caller, scope, method, route, url, status, latencyMs } = request;
  const { keyId, tenant, principal } = caller;
  const path = route.includes("{token}") ? route : pathOf(url);
  const line = {
    requestId,
    keyId,
    tenant,
    principal,
    scope,
    method,
    route,
    path,
    status,
    latencyMs: Math.round(latencyMs * 100) / 100,
  };
  const given = `${requestId}\n${keyId}\n${tenant}\n${principal}\n${path}`;
  log.info(scrubText(given) === given ? line : scrubValue(line), "request");
}

export function pathOf(url: string): string {
  const end = url.indexOf("?");
  return end < 0 ? url : url.slice(0, end);
}
