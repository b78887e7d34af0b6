import type { ModelMessage, ToolResultPart } from "ai";
import type { ToolDescriptor, ToolResult, ToolSurface } from "../tool-surface.ts";
import type { ToolCall } from "./take-turn.ts";

/**
 * Calls the requested tools, one after the other, and returns the results as a message. A tool that is not allowed is passed on as
 * well: the surface refuses it and records the request.
 */
export async function callTools(
  calls: readonly ToolCall[],
  sayable: ReadonlyMap<string, ToolDescriptor>,
  surface: ToolSurface,
  signal: AbortSignal,
): Promise<ModelMessage> {
  const content: ToolResultPart[] = [];
  for (const { id, name, args, isUnreadable } of calls) {
    const known = sayable.get(name);
    const result: ToolResult =
      known !== undefined && isUnreadable
        ? { status: "error", error: "the arguments are not JSON" }
        : await surface.call(known?.name ?? name, args, signal);
    content.push({ type: "tool-result", toolCallId: id, toolName: name, output: outputOf(result) });
  }
  return { role: "tool", content };
}

function outputOf(result: ToolResult): ToolResultPart["output"] {
  if (result.status !== "ok") return { type: "error-text", value: `${result.code ?? result.status}: ${result.error}` };
  const { outcome } = result;
  if (typeof outcome === "string") return { type: "text", value: outcome };
  return { type: "json", value: (outcome ?? null) as never };
}
