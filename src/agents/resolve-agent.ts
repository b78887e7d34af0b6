import type { AgentRefusal, EffectContext } from "../engine/worker/node-type.ts";
import { pinnedVersion } from "../protocol/evolve/agent.ts";
import type { Owner, Visibility } from "../protocol/identity/identity.ts";
import type { Run } from "../protocol/runs/run.ts";
import type { AgentRef } from "../protocol/workflows/workflow.ts";
import type { Agents, ChannelResolver, InstalledAgent } from "./agents.ts";

export interface Resolving {
  readonly agents: Agents;
  /** Absent: no channel leads anywhere. */
  readonly channels?: ChannelResolver;
}

export interface ResolvedAgent {
  readonly agent: InstalledAgent;
  readonly channel?: string;
}

/**
 * Resolves the agent and its version. A channel is looked up once in a run, the result is recorded with the invocation, and read
 * from there later. There is no version to fall back to.
 */
async function resolveAgent(
  resolving: Resolving,
  run: Pick<Run, "runId" | "owner" | "agent">,
  ref: AgentRef,
): Promise<ResolvedAgent | { readonly refusal: AgentRefusal }> {
  const { agentId, channel } = ref;
  if (channel === undefined) {
    const agent = await versionFor(resolving.agents, run.owner, ref);
    return agent === undefined ? { refusal: await whyNone(resolving.agents, run.owner, ref) } : { agent };
  }
  const settled = pinnedVersion(run, agentId, channel);
  const { owner, runId } = run;
  const version = settled ?? (await resolving.channels?.versionFor({ owner, runId, agentId, channel }));
  if (version === undefined) return inactive(`channel ${channel} of agent ${agentId}`);
  const agent = await installed(resolving.agents, owner, agentId, version);
  if (agent === undefined) return notInstalled({ agentId, version });
  return (await isPromoted(resolving.agents, owner, agent))
    ? { agent, channel }
    : inactive(`channel ${channel} of agent ${agentId}`);
}

/** The refusal of a request before its run exists; records nothing. */
export async function refusalOf(
  { agents, channels }: Resolving,
  visible: Visibility,
  ref: AgentRef,
): Promise<AgentRefusal | undefined> {
  const { agentId, channel } = ref;
  if (channel === undefined) {
    return (await versionFor(agents, visible, ref)) === undefined ? whyNone(agents, visible, ref) : undefined;
  }
  if (!(await isInstalled(agents, visible, agentId))) return notInstalled({ agentId }).refusal;
  const active = (await channels?.isActive(visible, agentId, channel)) ?? false;
  return active ? undefined : inactive(`channel ${channel} of agent ${agentId}`).refusal;
}

/**
 * Without a version, the highest version that is active for all runs, and before any promotion, the highest there is. A version
 * installed with other content than was promoted is not used, and neither is one next to those that were taken out of service: it
 * has no approval, and there is no version to fall back to.
 */
export async function versionFor(agents: Agents, owner: Owner, { agentId, version }: AgentRef) {
  if (version !== undefined) return installed(agents, owner, agentId, version);
  const active = await agents.unnamedVersions?.(owner, agentId);
  if (active === undefined) return (await agents.versionsOf(owner, agentId, { highest: true }))[0];
  const deployed = await firstInstalled(agents, owner, agentId, active);
  return deployed !== undefined && (await isPromoted(agents, owner, deployed)) ? deployed : undefined;
}

async function isPromoted(agents: Agents, owner: Owner, agent: InstalledAgent): Promise<boolean> {
  return (await agents.isPromoted?.(owner, agent)) ?? true;
}

async function installed(agents: Pick<Agents, "versionsOf">, owner: Visibility, agentId: string, version: string) {
  return (await agents.versionsOf(owner, agentId, { version })).find((one) => one.version === version);
}

async function firstInstalled(agents: Agents, owner: Owner, agentId: string, versions: readonly string[]) {
  for (const version of versions) {
    const found = await installed(agents, owner, agentId, version);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function isInstalled(agents: Agents, visible: Visibility, agentId: string): Promise<boolean> {
  return (await agents.versionsOf(visible, agentId, { highest: true })).length > 0;
}

async function whyNone(agents: Agents, owner: Owner, ref: AgentRef): Promise<AgentRefusal> {
  const { agentId, version } = ref;
  if (version !== undefined || !(await isInstalled(agents, owner, agentId))) return notInstalled(ref).refusal;
  if ((await agents.unnamedVersions?.(owner, agentId))?.length === 0) return inactive(`agent ${agentId}`).refusal;
  const message = `agent ${agentId} is installed here with other content than was promoted; promote another version`;
  return { code: "agent_not_installed", message };
}

function notInstalled({ agentId, version }: AgentRef): { readonly refusal: AgentRefusal } {
  const name = version === undefined ? agentId : `${agentId}@${version}`;
  return { refusal: { code: "agent_not_installed", message: `agent ${name} is not installed here` } };
}

function inactive(what: string): { readonly refusal: AgentRefusal } {
  const message = `${what} has no active version`;
  return { refusal: { code: "no_active_deployment", message } };
}

/**
 * Resolves the agent of a node. The version of a channel is written before any agent is asked: concurrent nodes get the same
 * version, whatever is deployed in between, since the log accepts the first answer and no other.
 */
export async function settledAgent(
  desk: Resolving,
  { node, latest }: Pick<EffectContext, "node" | "latest">,
  append: EffectContext["append"],
  ref: AgentRef,
): ReturnType<typeof resolveAgent> {
  const resolved = await resolveAgent(desk, latest(), ref);
  if ("refusal" in resolved || resolved.channel === undefined) return resolved;
  const { channel, agent } = resolved;
  const { agentId, version } = agent;
  if (pinnedVersion(latest(), agentId, channel) === version) return resolved;
  await append([{ type: "assay.agent.pinned", nodeId: node.id, payload: { agentId, channel, version } }]);
  return resolveAgent(desk, latest(), ref);
}
