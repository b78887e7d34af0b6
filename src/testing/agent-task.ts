import type { AgentAnswer, AgentTask, Binding, Usage, Watcher } from "../agents/binding.ts";
import type { ToolDescriptor, ToolResult, ToolSurface } from "../agents/tool-surface.ts";

export const NO_TOOLS: ToolSurface = toolsOf([], () => ({ status: "ok", outcome: null })).surface;

/** A surface of these tools, and what was asked of it. What is not on it is forbidden. */
export function toolsOf(
  tools: readonly ToolDescriptor[],
  answer: (name: string, args: unknown) => ToolResult,
): { readonly surface: ToolSurface; readonly asked: { name: string; args: unknown }[] } {
  const asked: { name: string; args: unknown }[] = [];
  return {
    asked,
    surface: {
      tools,
      call: async (name, args, signal) => {
        signal.throwIfAborted();
        asked.push({ name, args });
        const isKnown = tools.some((tool) => tool.name === name);
        return isKnown ? answer(name, args) : { status: "forbidden", error: `${name} is not allowed` };
      },
    },
  };
}

/** A task with this input. A call that hangs fails its test, but leaves nothing running. */
export function agentTask(more: Partial<AgentTask> = {}): AgentTask {
  return {
    input: { question: "6 × 7?" },
    runId: "run-1",
    invocationId: "inv-1",
    tools: NO_TOOLS,
    memory: [],
    signal: AbortSignal.timeout(30_000),
    ...more,
  };
}

export interface Watched {
  readonly answer: AgentAnswer;
  readonly chunks: string[];
  readonly reasoning: string[];
  readonly usage: Usage[];
  /** How often it was begun anew. */
  readonly again: number;
}

/** Calls the binding and notes down everything that it tells. */
export async function watched(binding: Binding, more: Partial<AgentTask> = {}): Promise<Watched> {
  const told = { chunks: [] as string[], reasoning: [] as string[], usage: [] as Usage[], again: 0 };
  const watch: Watcher = {
    chunk: (text) => void told.chunks.push(text),
    reasoning: (delta) => void told.reasoning.push(delta),
    usage: (usage) => void told.usage.push(usage),
    again: () => void told.again++,
  };
  const answer = await binding.call(agentTask(more), watch);
  return { answer, ...told };
}
