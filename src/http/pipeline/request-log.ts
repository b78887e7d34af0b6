import type { IncomingMessage } from "node:http";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Log } from "./deps.ts";

export interface LoggedRequest {
  readonly requestId: string;
  readonly caller: Caller;
  /** The scope that the route takes, or "authenticated". */
  readonly scope: string;
  readonly method: string;
  readonly route: string;
  readonly url: string;
  readonly status: number;
  readonly latencyMs: number;
}

/**
 * One line per authenticated request. Never a header, a body, a query value or a key; a route whose path holds a token is logged by its
 * pattern only. The line is cleaned of secrets only where text of the client holds one, because the scan costs time.
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
  const fromClient = `${requestId}\n${keyId}\n${tenant}\n${principal}\n${path}`;
  log.info(scrubText(fromClient) === fromClient ? line : scrubValue(line), "request");
}

export function pathOf(url: string): string {
  const end = url.indexOf("?");
  return end < 0 ? url : url.slice(0, end);
}

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's own id, if it is harmless in a log line and in a response, so that both sides can search for the same text. */
export function requestIdOf(
  request: IncomingMessage,
  newId: () => string,
  { scrubText }: Pick<Scrubber, "scrubText">,
): string {
  const given = request.headers["x-request-id"];
  const isHarmless = typeof given === "string" && ACCEPTED.test(given) && scrubText(given) === given;
  return isHarmless ? given : newId();
}
