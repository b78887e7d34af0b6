import type { ToolSurface } from "../../agents/tool-surface.ts";

export interface ObservedTool {
  readonly tool: string;
  readonly result: unknown;
}

/** The same tools, with their results recorded for the judge. */
export function observedTools(surface: ToolSurface): { readonly tools: ToolSurface; readonly seen: ObservedTool[] } {
  const seen: ObservedTool[] = [];
  const call: ToolSurface["call"] = async (name, args, signal) => {
    const answer = await surface.call(name, args, signal);
    seen.push({ tool: name, result: answer.status === "ok" ? (answer.outcome ?? null) : { error: answer.error } });
    return answer;
  };
  return { tools: { tools: surface.tools, restart: () => surface.restart?.(), call }, seen };
}
