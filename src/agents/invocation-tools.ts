import { canonicalJson } from "../formats/json/canonical-json.ts";
import type { Scrubber } from "../formats/secrets/scrub.ts";
import { sha256 } from "../formats/text/sha256.ts";
import { defined } from "../protocol/defined.ts";
import type { EventDraft } from "../protocol/events.ts";
import { type ToolResult, type ToolSurface, toolError } from "./tool-surface.ts";
import { usable } from "./usable-value.ts";

export interface ToolWatch {
  readonly agentId: string;
  readonly nodeId: string;
  readonly scrubber: Scrubber;
  readonly newId: (prefix: "evt" | "call") => string;
  /** Whether the log has the arguments and results of calls, or only that there were calls. */
  readonly content: boolean;
  /** The principal for whom tools are called. */
  readonly principal?: string;
  readonly nowMs: () => number;
  emit(event: EventDraft): void;
  /** Resolves once all events so far are durable. */
  readonly flushed?: () => Promise<void>;
  /** A tool was asked for, whether it may be called or not. */
  asked(): void;
  /** A tool that the agent may not call was asked for. */
  denied(name: string): void;
}

/** Allows only listed tools, and logs each call with its result. */
export function watchedTools(surface: ToolSurface, watch: ToolWatch): ToolSurface {
  const listed = new Map(surface.tools.map((tool) => [tool.name, tool]));
  return {
    tools: surface.tools,
    restart: () => surface.restart?.(),
    async call(name, given, signal) {
      watch.asked();
      const tool = listed.get(name);
      if (tool === undefined) {
        watch.denied(name);
        return { status: "forbidden", error: `The agent may not call ${name}.` };
      }
      const asked = usable(given);
      if ("problem" in asked) return { status: "error", error: `what it is to be called with ${asked.problem}` };
      const { value: args } = asked;
      const { agentId, nodeId, scrubber, content, principal } = watch;
      const shown = scrubber.scrubValue(args);
      const about = { agentId, toolName: name, callId: watch.newId("call") };
      const eventId = watch.newId("evt");
      watch.emit({
        type: "agent.toolCalled",
        nodeId,
        eventId,
        payload: {
          ...about,
          argsHash: argsHash(shown),
          ...(content ? { inputs: shown } : {}),
          ...defined({ principal, transport: tool.transport }),
        },
      });
      await watch.flushed?.();
      const begunAtMs = watch.nowMs();
      const returned = (result: ToolResult) => {
        // A refused call never began, so it has no duration.
        const acted = result.status === "ok" || result.status === "error";
        const tookMs = result.durationMs ?? Math.max(0, Math.round(watch.nowMs() - begunAtMs));
        const took = acted ? { durationMs: tookMs } : {};
        const payload = {
          ...about,
          status: result.status,
          ...took,
          ...(content ? loggedResult(result, scrubber) : {}),
        };
        watch.emit({ type: "agent.toolReturned", nodeId, causationId: eventId, payload });
      };
      try {
        const result = usableResult(await surface.call(name, args, signal));
        returned(result);
        return result;
      } catch (error) {
        returned({ status: "error", error: "The call was broken off." });
        throw error;
      }
    },
  };
}

function usableResult(result: ToolResult): ToolResult {
  if (result.status !== "ok") return result;
  const outcome = usable(result.outcome);
  const { durationMs } = result;
  const took = durationMs === undefined ? {} : { durationMs };
  if ("problem" in outcome) return { status: "error", error: `its result ${outcome.problem}`, ...took };
  return { status: "ok", outcome: outcome.value, ...took };
}

function loggedResult(result: ToolResult, scrubber: Scrubber) {
  if (result.status === "ok") return { outcome: scrubber.scrubValue(result.outcome ?? null) };
  const { code, message } = toolError(result);
  return { error: { code, message: scrubber.scrubText(message) } };
}

export function argsHash(args: unknown): string {
  return sha256(canonicalJson(args ?? null));
}
