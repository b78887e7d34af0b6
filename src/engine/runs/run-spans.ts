import { defined } from "../../protocol/defined.ts";
import type { RunEventDoc } from "../../protocol/events.ts";
import type { Span } from "../../protocol/runs/bundle-api.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { spanIdOf, traceIdOf } from "./trace-ids.ts";

type Draft = { -readonly [K in keyof Span]: Span[K] };
type StatusCode = Span["status"]["code"];

/**
 * What happened when, as tracing tools show it: one span for the run, and one below it for every attempt of a node, named
 * by the type of the node. It follows from the log alone, so the ids are the same every time; attributes are ids and
 * numbers and never content.
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
