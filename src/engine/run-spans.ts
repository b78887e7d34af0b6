import type { Span } from "../protocol/bundle-api.ts";
import type { RunEventDoc } from "../protocol/events.ts";
import { spanIdOf, traceIdOf } from "./trace-ids.ts";

type Draft = { -readonly [K in keyof Span]: Span[K] };
type StatusCode = Span["status"]["code"];

/**
 * What happened when, as tracing tools show it: one span for the run, and one below it for every attempt of a node. It
 * follows from the log alone, so the ids are the same every time; attributes are ids and numbers and never content.
 */
export class RunSpans {
  readonly #spans: Draft[] = [];
  readonly #open = new Map<string, Draft>();
  readonly #traceId: string;

  constructor(runId: string) {
    this.#traceId = traceIdOf(runId);
  }

  get spans(): readonly Span[] {
    return this.#spans;
  }

  /** The span that an event begins, if it does. */
  see(event: RunEventDoc): Span | undefined {
    const { type, timestamp, runId } = event;
    const payload = event.payload as { nodeId?: string; attempt?: number; workflowId?: string; drainPolicy?: string };
    const { nodeId = "" } = payload;
    switch (type) {
      case "run.started":
        return this.#begin("", "run", event, {
          "openwop.run_id": runId,
          "openwop.workflow_id": payload.workflowId ?? "",
        });
      case "node.started": {
        this.#end(nodeId, timestamp, "UNSET");
        const about = { "openwop.node_id": nodeId, "openwop.attempt": payload.attempt ?? 0 };
        return this.#begin(nodeId, `node ${nodeId}`, event, { "openwop.run_id": runId, ...about });
      }
      case "node.completed":
        return this.#end(nodeId, timestamp, "OK");
      case "node.failed":
      case "node.retried":
        return this.#end(nodeId, timestamp, "ERROR");
      case "node.cancelled":
        return this.#end(nodeId, timestamp, "UNSET");
      case "run.paused":
        return payload.drainPolicy === "immediate" ? this.#endNodes(timestamp) : undefined;
      case "run.completed":
        return this.#endAll(timestamp, "OK");
      case "run.failed":
        return this.#endAll(timestamp, "ERROR");
      case "run.cancelled":
        return this.#endAll(timestamp, "UNSET");
      default:
        return undefined;
    }
  }

  #begin(key: string, name: string, { timestamp, runId, sequence }: RunEventDoc, attributes: Span["attributes"]): Span {
    const parent = this.#spans[0];
    const span: Draft = {
      name,
      traceId: this.#traceId,
      spanId: spanIdOf(runId, sequence),
      ...(parent === undefined ? {} : { parentSpanId: parent.spanId }),
      kind: "INTERNAL",
      startedAt: timestamp,
      status: { code: "UNSET" },
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
    for (const key of [...this.#open.keys()]) if (key !== "") this.#end(key, at, "UNSET");
  }

  #endAll(at: string, code: StatusCode): undefined {
    this.#endNodes(at);
    this.#end("", at, code);
  }
}
