import { sha256 } from "../formats/text/sha256.ts";
import { compareSemver } from "../protocol/semver.ts";
import type { Agents, InstalledAgent } from "./agents.ts";
import type { AgentAnswer, AgentTask, Binding, Watcher } from "./binding.ts";
import { scriptedBinding } from "./bindings/scripted.ts";
import type { Deployments } from "./deployments/deployments.ts";
import { joined, type ToolSurface } from "./tool-surface.ts";

/** Agents that a conformance suite asks: one without and one with a return schema. */
export const LIVE_AGENT_ID = "core.conformance.live-agent";
export const STRUCTURED_AGENT_ID = "core.conformance.structured-agent";
/** The agent that workflows name by a channel. */
export const CHANNEL_AGENT_ID = "core.conformance.channel-agent";

const CONFORMANCE_VERSION = "1.0.0";

/** The only tool of these agents. */
export const ECHO_TOOL = "openwop:echo";

export interface ConformanceAgent {
  readonly agent: InstalledAgent;
  readonly binding: Binding;
  readonly tools: ToolSurface;
}

const ECHO: ToolSurface = {
  tools: [{ name: ECHO_TOOL, description: "Gives back what it is given.", transport: "native" }],
  async call(_name, args, signal) {
    signal.throwIfAborted();
    return { status: "ok", outcome: args ?? null };
  },
};

/** Agents that published workflows name, there while the conformance seams are on. They answer at once and reach nothing. */
const CONFORMANCE_AGENTS: readonly ConformanceAgent[] = [
  live(LIVE_AGENT_ID, {}),
  live(STRUCTURED_AGENT_ID, {
    returnSchema: {
      type: "object",
      required: ["answer"],
      properties: { answer: { type: "string" } },
      additionalProperties: false,
    },
  }),
  live(CHANNEL_AGENT_ID, {}),
  ...["identity-agent", "pack-installed-agent"].map((name) => live(`core.conformance.${name}`, {})),
  ...["memory-agent", "byok-agent", "ttl-agent"].map((name) =>
    live(`core.conformance.${name}`, { memoryShape: { longTerm: true } }),
  ),
];

/** A published workflow names the stable channel of an agent without a deployment. */
export function conformanceDeployments(agentId: string): Deployments | undefined {
  const agent = CONFORMANCE_AGENTS.find((one) => one.agent.agentId === agentId)?.agent;
  if (agent === undefined || agentId !== CHANNEL_AGENT_ID) return undefined;
  const { version, contentHash: agentHash } = agent;
  return {
    agentId,
    versions: { [version]: { state: "active", agentHash } },
    channels: { stable: [version] },
    asked: [],
  };
}

function live(agentId: string, more: Partial<InstalledAgent>): ConformanceAgent {
  const version = CONFORMANCE_VERSION;
  const agent: InstalledAgent = {
    agentId,
    version,
    packName: "core.conformance.agent-pack",
    persona: "Conformance",
    modelClass: "general",
    systemPrompt: "Answer as the task says.",
    toolAllowlist: [ECHO_TOOL],
    contentHash: sha256(JSON.stringify([agentId, version, more])),
    ...more,
  };
  return {
    agent,
    binding: { kind: "scripted", provider: "conformance", model: "conformance", call: answer },
    tools: ECHO,
  };
}

interface Asked {
  readonly attemptTool?: string;
  readonly args?: unknown;
  readonly forceInvalidResult?: boolean;
}

async function answer({ input, tools, signal }: AgentTask, watch: Watcher): Promise<AgentAnswer> {
  signal.throwIfAborted();
  const {
    attemptTool,
    args = {},
    forceInvalidResult,
  } = (typeof input === "object" && input !== null ? input : {}) as Asked;
  watch.reasoning("I was told what to do.");
  if (attemptTool !== undefined) await tools.call(attemptTool, args, signal);
  watch.usage({ provider: "conformance", model: "conformance", inputTokens: 1, outputTokens: 1 });
  const output = forceInvalidResult === true ? { unexpected: true } : { answer: "done" };
  return { type: "completed", output, confidence: 0.95 };
}

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
  return sha256(`${agentId}@${version}`);
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
