import type { IncomingMessage } from "node:http";
import type { Scrubber } from "../../formats/secrets/scrub.ts";

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's own id when it is harmless in a log line and in an answer, so that both sides can search for one text. */
export function requestIdOf(
  request: IncomingMessage,
  newId: () => string,
  { scrubText }: Pick<Scrubber, "scrubText">,
): string {
  const given = request.headers["x-request-id"];
  const isHarmless = typeof given === "string" && ACCEPTED.test(given) && scrubText(given) === given;
  return isHarmless ? given : newId();
}
