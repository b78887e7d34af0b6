import { own } from "../../protocol/own.ts";
import { RESOLVED_CHANNELS } from "../../protocol/promotion/api.ts";
import type { Documents } from "../../store/port/documents.ts";
import type { Agents } from "../agents.ts";
import type { ChannelResolver } from "../channel-resolver.ts";
import { drawVersion, serves } from "./draw-version.ts";
import { readDeployments } from "./stored-deployments.ts";

/**
 * Channels as they are deployed. A version that was promoted and is not installed as it was then is no version: there is none to fall
 * back to.
 */
export function deployedChannels(
  store: Documents,
  agents: Pick<Agents, "versionsOf" | "fixedDeployments">,
): ChannelResolver {
  return {
    async versionFor({ owner, runId, agentId, channel }) {
      if (!RESOLVED_CHANNELS.includes(channel)) return undefined;
      const { now } = await readDeployments(store, owner, agentId, agents);
      const drawn = drawVersion(now, channel, runId);
      if (drawn === undefined) return undefined;
      const agent = (await agents.versionsOf(owner, agentId)).find(({ version }) => version === drawn);
      return agent?.contentHash === own(now.versions, drawn)?.agentHash ? drawn : undefined;
    },
    async isActive(visible, agentId, channel) {
      if (!RESOLVED_CHANNELS.includes(channel)) return false;
      return serves((await readDeployments(store, visible, agentId, agents)).now, channel);
    },
  };
}
