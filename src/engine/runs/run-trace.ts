import { createHash } from "node:crypto";
import { defined } from "../../protocol/defined.ts";
import type { EventDraft, RunEventDoc } from "../../protocol/events.ts";
import type { Span } from "../../protocol/runs/bundle-api.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { inTrace, type Trace } from "../../protocol/runs/trace.ts";

/** The trace of a run: that of the request which started it, or one that follows from the run's id. */
export function traceIdOf({ runId, trace }: Pick<Run, "runId" | "trace">): string {
  return trace?.traceId ?? digest(`trace ${runId}`, 32);
}

/** The trace of child runs: below the span of the run, where the run is in the trace of a request. */
export function traceBelow({ runId, trace }: Pick<Run, "runId" | "trace">): Trace | undefined {
  return trace && { traceId: trace.traceId, spanId: spanIdOf(runId, 0) };
}

type RunStarted = Extract<EventDraft, { type: "run.started" }>;

/** The trace is sealed: a run and its replay have the same served events and different traces. */
export function sealedTrace(first: RunStarted, trace: Trace | undefined): RunStarted {
  return trace === undefined ? first : { ...first, sealed: inTrace(first.sealed ?? first.payload, trace) };
}

/** The id of the span that an event begins; that of the run begins with its first event. */
export function spanIdOf(runId: string, sequence: number): string {
  return digest(`span ${runId} ${sequence}`, 16);
}

/** A derived id of the length that tracing tools require. */
function digest(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}

type Draft = { -readonly [K in keyof Span]: Span[K] };
type StatusCode = Span["status"]["code"];

/**
 * The spans of a run for tracing tools: one for the run, and one below it for each attempt of a node, named by the node's type. They are
 * derived from the log alone, so their ids are always the same. Attributes are ids and numbers, never content.
 */
export class RunSpans {
  readonly #spans: Draft[] = [];
  readonly #open = new Map<string, Draft>();
  readonly #traceId: string;
  readonly #parentSpanId: string | undefined;

  constructor(run: Pick<Run, "runId" | "trace">) {
    this.#traceId = traceIdOf(run);
    this.#parentSpanId = run.trace?.spanId;
  }

  get spans(): readonly Span[] {
    return this.#spans;
  }

  /** The span that an event begins, if it does. */
  see(event: RunEventDoc): Span | undefined {
    const { type, timestamp, runId } = event;
    const payload = event.payload as {
      nodeId?: string;
      typeId?: string;
      attempt?: number;
      workflowId?: string;
      drainPolicy?: string;
    };
    const { nodeId = "" } = payload;
    switch (type) {
      case "run.started":
        return this.#begin("", "openwop.run", event, {
          "openwop.run_id": runId,
          "openwop.workflow_id": payload.workflowId ?? "",
        });
      case "node.started": {
        this.#end(nodeId, timestamp, "unset");
        const about = { "openwop.node_id": nodeId, "openwop.attempt": payload.attempt ?? 0 };
        return this.#begin(nodeId, `openwop.node.${payload.typeId ?? "unknown"}`, event, {
          "openwop.run_id": runId,
          ...about,
        });
      }
      case "node.completed":
        return this.#end(nodeId, timestamp, "ok");
      case "node.failed":
      case "node.retried":
        return this.#end(nodeId, timestamp, "error");
      case "node.cancelled":
        return this.#end(nodeId, timestamp, "unset");
      case "run.paused":
        return payload.drainPolicy === "immediate" ? this.#endNodes(timestamp) : undefined;
      case "run.completed":
        return this.#endAll(timestamp, "ok");
      case "run.failed":
        return this.#endAll(timestamp, "error");
      case "run.cancelled":
        return this.#endAll(timestamp, "unset");
      default:
        return undefined;
    }
  }

  #begin(key: string, name: string, { timestamp, runId, sequence }: RunEventDoc, attributes: Span["attributes"]): Span {
    const parentSpanId = this.#spans[0]?.spanId ?? this.#parentSpanId;
    const span: Draft = {
      name,
      traceId: this.#traceId,
      spanId: spanIdOf(runId, sequence),
      ...defined({ parentSpanId }),
      kind: "internal",
      startedAt: timestamp,
      status: { code: "unset" },
      attributes,
    };
    this.#spans.push(span);
    this.#open.set(key, span);
    return span;
  }

  #end(key: string, at: string, code: StatusCode): undefined {
    const span = this.#open.get(key);
    if (span === undefined) return;
    span.endedAt = at;
    span.status = { code };
    this.#open.delete(key);
  }

  #endNodes(at: string): undefined {
    for (const key of [...this.#open.keys()]) if (key !== "") this.#end(key, at, "unset");
  }

  #endAll(at: string, code: StatusCode): undefined {
    this.#endNodes(at);
    this.#end("", at, code);
  }
}
