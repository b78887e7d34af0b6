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

const LONGEST = 64;

/** Tools by names that every provider takes: letters, digits, `_` and `-`, at most 64 of them, each once. */
export function sayableNames(tools: readonly ToolDescriptor[]): ReadonlyMap<string, ToolDescriptor> {
  const named = new Map<string, ToolDescriptor>();
  for (const tool of tools) {
    const plain = tool.name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, LONGEST);
    let name = plain;
    for (let n = 2; named.has(name); n++) name = `${plain.slice(0, LONGEST - String(n).length - 1)}_${n}`;
    named.set(name, tool);
  }
  return named;
}
