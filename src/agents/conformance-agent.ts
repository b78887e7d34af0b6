import { createHash } from "node:crypto";
import { compareSemver } from "../protocol/semver.ts";
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
  contentHash: conformanceHash(CONFORMANCE_AGENT_ID, "1.0.0"),
};

/** The content of a version that exists only because a suite promoted it. */
export function conformanceHash(agentId: string, version: string): string {
  return createHash("sha256").update(`${agentId}@${version}`).digest("hex");
}

/** Adds agents to the installed ones while the conformance seams are on; one of them echoes its input. */
export function withConformanceAgent(agents: Agents): Agents {
  const binding = scriptedBinding({ byTaskId: new Map(), byInput: [], sequence: [], default: { echo: "input" } });
  const echo = { agent: AGENT, binding, tools: joined([]) };
  const known = new Map([echo, ...CONFORMANCE_AGENTS].map((one) => [one.agent.agentId, one]));
  return {
    ...agents,
    builtIn: [...known.values()].map(({ agent }) => agent),
    async versionsOf(visible, agentId) {
      const installed = await agents.versionsOf(visible, agentId);
      const own = known.get(agentId);
      if (own === undefined || installed.length > 0) return installed;
      return promotedVersions(own.agent, await agents.activeVersions(visible, agentId));
    },
    bindingFor: (agent, choice, tenant) =>
      known.get(agent.agentId)?.binding ?? agents.bindingFor(agent, choice, tenant),
    async toolsFor(agent, signal, tenant) {
      const own = known.get(agent.agentId);
      return own === undefined ? agents.toolsFor(agent, signal, tenant) : own.tools;
    },
  };
}

/** The agent in its own version and in those that a suite has promoted; the highest first. */
function promotedVersions(agent: InstalledAgent, active: readonly string[]): InstalledAgent[] {
  const promoted = active.filter((version) => version !== agent.version);
  const made = promoted.map((version) => ({ ...agent, version, contentHash: conformanceHash(agent.agentId, version) }));
  return [agent, ...made].sort((a, b) => compareSemver(b.version, a.version));
}
