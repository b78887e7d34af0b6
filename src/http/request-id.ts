import type { IncomingMessage } from "node:http";

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's own id when it is harmless in a log line, so that both sides can search for one text. */
export function requestIdOf(request: IncomingMessage, newId: () => string): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && ACCEPTED.test(given) ? given : newId();
}
