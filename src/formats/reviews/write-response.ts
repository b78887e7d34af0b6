import { PROTOCOL_VERSION } from "./request.ts";
import type { ReviewResponse } from "./response.ts";

/** An answer as it would be on the wire, with what was wrong in small things left out. */
export function responseOnWire(response: ReviewResponse): object {
  const { iteration, status, acknowledged, extensions } = response;
  return {
    protocol_version: PROTOCOL_VERSION,
    iteration,
    status,
    ...(response.status === "success" ? { feedback: response.feedback } : { error: response.error }),
    ...(acknowledged === undefined ? {} : { applied_feedback_ack: { items: acknowledged } }),
    ...extensions,
  };
}
