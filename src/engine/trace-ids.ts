import { createHash } from "node:crypto";

/** The trace of a run. It follows from the id, so that everything about a run meets in it without being told. */
export function traceIdOf(runId: string): string {
  return digest(`trace ${runId}`, 32);
}

/** The span that an event begins; the run's own begins with its first. */
export function spanIdOf(runId: string, sequence: number): string {
  return digest(`span ${runId} ${sequence}`, 16);
}

/** An id that nobody chose, of the length that tracing tools want. */
function digest(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}
