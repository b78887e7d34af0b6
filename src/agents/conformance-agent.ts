import { createHash } from "node:crypto";
import type { Agents } from "./agents.ts";
import { scriptedBinding } from "./bindings/scripted.ts";
import { CONFORMANCE_AGENTS } from "./conformance-agents.ts";
import type { InstalledAgent } from "./installed-agent.ts";
import { joined } from "./tools/joined.ts";

export const CONFORMANCE_AGENT_ID = "core.conformance.echo";

const AGENT: InstalledAgent = {
  agentId: CONFORMANCE_AGENT_ID,
  version: "1.0.0",
  packName: "core.conformance",
  persona: "Echo",
  modelClass: "general",
  systemPrompt: "Answer with what you are given.",
  toolAllowlist: [],
  contentHash: createHash("sha256").update(`${CONFORMANCE_AGENT_ID}@1.0.0`).digest("hex"),
};

/** Agents that are there beside those that are installed, while the conformance seams are on; one answers what it is asked. */
export function withConformanceAgent(agents: Agents): Agents {
  const binding = scriptedBinding({ byTaskId: new Map(), byInput: [], sequence: [], default: { echo: "input" } });
  const echo = { agent: AGENT, binding, tools: joined([]) };
  const known = new Map([echo, ...CONFORMANCE_AGENTS].map((one) => [one.agent.agentId, one]));
  return {
    ...agents,
    beside: [...known.values()].map(({ agent }) => agent),
    async versionsOf(visible, agentId) {
      const installed = await agents.versionsOf(visible, agentId);
      const own = known.get(agentId);
      return own === undefined || installed.length > 0 ? installed : [own.agent];
    },
    bindingFor: (agent, choice) => known.get(agent.agentId)?.binding ?? agents.bindingFor(agent, choice),
    async toolsFor(agent, signal) {
      const own = known.get(agent.agentId);
      return own === undefined ? agents.toolsFor(agent, signal) : own.tools;
    },
  };
}
