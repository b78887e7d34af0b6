import { answerStream } from "../../formats/reviews/write-stream.ts";
import { streamIdsFor } from "./stream-ids.ts";

/** A response as the three lines that carry it, written now. Nothing that reviews here counts tokens. */
export function answerLines(sessionID: string, response: string): string {
  const atMs = Date.now();
  return answerStream(response, streamIdsFor(sessionID, atMs), atMs, { input: 0, output: 0, cost: 0 });
}
