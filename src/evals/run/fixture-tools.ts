import type { InstalledAgent } from "../../agents/installed-agent.ts";
import type { ToolSurface } from "../../agents/tool-surface.ts";
import type { Scrubber } from "../../formats/scrub.ts";
import type { Fixtures } from "../../protocol/eval-suite.ts";
import type { MemoryEntry } from "../../protocol/memory.ts";

/**
 * Tools that answer what the task says and reach nothing: each answer of a tool once, in order, and the last one ever after.
 * A tool without an answer fails, so that nothing live is reached by mistake.
 */
export function fixtureTools({ toolAllowlist }: InstalledAgent, { toolResponses = [] }: Fixtures = {}): ToolSurface {
  const answers = new Map<string, unknown[]>();
  for (const { tool, response } of toolResponses) answers.set(tool, [...(answers.get(tool) ?? []), response ?? null]);
  return {
    tools: [...new Set(toolAllowlist)].map((name) => ({ name })),
    async call(name, _args, signal) {
      signal.throwIfAborted();
      const left = answers.get(name);
      if (left === undefined) return { status: "error", error: `The task has no fixture for the tool ${name}.` };
      return { status: "ok", outcome: left.length > 1 ? left.shift() : left[0] };
    },
  };
}

/** What the agent is to remember during one task, as if it had been there before. */
export function seededMemory({ memorySeed = [] }: Fixtures, scrubber: Scrubber, at: string): MemoryEntry[] {
  return memorySeed.map((seed, i) => {
    const { id, content, tags } = seed;
    return {
      id: typeof id === "string" && id !== "" ? id : `seed-${i + 1}`,
      content: scrubber.scrubText(typeof content === "string" ? content : JSON.stringify(content ?? seed)),
      tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [],
      createdAt: at,
    };
  });
}
