import type { EffectContext } from "../../engine/worker/node-type.ts";
import { pinnedVersion } from "../../protocol/evolve/agent.ts";
import type { AgentRef } from "../../protocol/workflows/workflow.ts";
import { type Resolving, resolveAgent } from "../resolve-agent.ts";

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
