import type { InstalledAgent } from "../../agents/agents.ts";
import type { Binding } from "../../agents/binding.ts";
import { remembers } from "../../agents/memory/agent-memory.ts";
import { READING_MEMORY, snapshotTools } from "../../agents/memory/memory-tools.ts";
import { joined, type ToolSurface } from "../../agents/tool-surface.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import type { MemoryEntry } from "../../protocol/agents/api.ts";
import type { Fixtures } from "../../protocol/evals/eval-suite.ts";
import type { EvalRun } from "./eval-run.ts";

/** The name of the memory seed among the unused fixtures of a task. */
const MEMORY_SEED = "memorySeed";

/**
 * The tools that an agent may call in a task: those of its manifest. Without a manifest, those that the fixtures name; a memory seed
 * names the tools that read it.
 */
export function allowedTools(
  { toolAllowlist, hasManifest }: Pick<InstalledAgent, "toolAllowlist" | "hasManifest">,
  fixtures: Fixtures = {},
): readonly string[] {
  if (hasManifest !== false) return [...new Set(toolAllowlist)];
  const { memorySeed = [] } = fixtures;
  return [...new Set([...toolNames(fixtures), ...(memorySeed.length > 0 ? READING_MEMORY : [])])];
}

function toolNames({ toolResponses = [] }: Fixtures): string[] {
  return [...new Set(toolResponses.map(({ tool }) => tool))];
}

/**
 * Tools that answer from the fixtures of the task and reach nothing: each answer of a tool once, in order, and then the last one
 * again. Memory tools without a fixture read the seed; any other tool without one fails, so that no live service is reached by
 * mistake.
 */
export function fixtureTools(
  allowed: readonly string[],
  { toolResponses = [] }: Fixtures = {},
  memory?: ToolSurface,
): ToolSurface {
  let answers = inOrder(toolResponses);
  const seeded = new Map(memory?.tools.map((tool) => [tool.name, tool]));
  return {
    tools: allowed.map((name) => seeded.get(name) ?? { name }),
    restart() {
      answers = inOrder(toolResponses);
    },
    async call(name, args, signal) {
      signal.throwIfAborted();
      const left = answers.get(name);
      if (left !== undefined) return { status: "ok", outcome: left.length > 1 ? left.shift() : left[0] };
      if (memory !== undefined && seeded.has(name)) return memory.call(name, args, signal);
      return { status: "error", code: "fixture_missing", error: `The task has no fixture for the tool ${name}.` };
    },
  };
}

function inOrder(responses: NonNullable<Fixtures["toolResponses"]>): Map<string, unknown[]> {
  const answers = new Map<string, unknown[]>();
  for (const { tool, response } of responses) answers.set(tool, [...(answers.get(tool) ?? []), response ?? null]);
  return answers;
}

/** The memory of the agent during one task, as if it had existed before. */
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

/**
 * The fixtures of a task that no call asked for: names of tools, and `memorySeed`. Models and endpoints are handed the seed with their
 * task; programs and scripts have to ask for it. Undefined where the task has no fixtures.
 */
export function unusedFixtures(
  fixtures: Fixtures | undefined,
  { kind }: Pick<Binding, "kind">,
  asked: readonly string[],
): string[] | undefined {
  const { memorySeed = [] } = fixtures ?? {};
  const named = toolNames(fixtures ?? {});
  if (named.length === 0 && memorySeed.length === 0) return undefined;
  const isHanded = kind === "model" || kind === "http";
  const isSeedUnused = memorySeed.length > 0 && !isHanded && !READING_MEMORY.some((name) => asked.includes(name));
  return [...named.filter((name) => !asked.includes(name)), ...(isSeedUnused ? [MEMORY_SEED] : [])];
}

/** The live tools that an agent may call, and its live memory as it is now. What it writes there is discarded with the trial. */
export async function liveTools(
  { host, services, agent, owner, signal }: EvalRun,
  toolAllowlist: readonly string[],
): Promise<ToolSurface> {
  const live = await services.agents.toolsFor({ ...agent, toolAllowlist }, signal, owner.tenant);
  const asksForMemory = toolAllowlist.some((name) => name.startsWith("memory:"));
  if (!asksForMemory || !remembers(agent)) return live;
  const entries = await services.agents.memoryFor(owner, agent, { limit: 0 });
  return joined([live, snapshotTools(toolAllowlist, entries, host.newId)]);
}

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
