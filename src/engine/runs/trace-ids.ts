import { createHash } from "node:crypto";
import type { EventDraft } from "../../protocol/events.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { inTrace, type Trace } from "../../protocol/runs/trace.ts";

/** The trace of a run: that of the request which started it, or one that follows from the run's id. */
export function traceIdOf({ runId, trace }: Pick<Run, "runId" | "trace">): string {
  return trace?.traceId ?? digest(`trace ${runId}`, 32);
}

/** Where the runs that a run dispatches belong: below the span of the run, where that is in a trace of a request. */
export function traceBelow({ runId, trace }: Pick<Run, "runId" | "trace">): Trace | undefined {
  return trace && { traceId: trace.traceId, spanId: spanIdOf(runId, 0) };
}

type RunStarted = Extract<EventDraft, { type: "run.started" }>;

/** Sealed, because a run and its replay have the same served events and are in different traces. */
export function sealedTrace(first: RunStarted, trace: Trace | undefined): RunStarted {
  return trace === undefined ? first : { ...first, sealed: inTrace(first.sealed ?? first.payload, trace) };
}

/** The span that an event begins; the run's own begins with its first. */
export function spanIdOf(runId: string, sequence: number): string {
  return digest(`span ${runId} ${sequence}`, 16);
}

/** An id that nobody chose, of the length that tracing tools want. */
function digest(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}
