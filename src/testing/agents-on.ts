import type { Agents } from "../agents/agents.ts";
import { activeVersions, isPromoted, unnamedVersions } from "../agents/deployments/stored-deployments.ts";
import { versionsOf } from "../agents/registry/stored-agents.ts";
import type { Store } from "../store/port/store.ts";

/** The agents that are installed in this store. Nobody says how they are called, unless the test does. */
export function agentsOn(store: Store, more: Partial<Agents> = {}): Agents {
  return {
    versionsOf: (visible, agentId, wanted) => versionsOf(store, visible, agentId, wanted),
    activeVersions: (visible, agentId) => activeVersions(store, visible, agentId, more),
    unnamedVersions: (visible, agentId) => unnamedVersions(store, visible, agentId, more),
    isPromoted: (visible, agent) => isPromoted(store, visible, agent, more),
    bindingFor: () => undefined,
    toolsFor: async () => ({ tools: [], call: async () => ({ status: "error", error: "there are no live tools" }) }),
    memoryFor: async () => [],
    ...more,
  };
}
