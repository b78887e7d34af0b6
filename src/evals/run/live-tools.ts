import { remembers } from "../../agents/memory/agent-memory.ts";
import { snapshotTools } from "../../agents/memory/memory-tools.ts";
import { joined, type ToolSurface } from "../../agents/tool-surface.ts";
import type { EvalRun } from "./eval-run.ts";

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
