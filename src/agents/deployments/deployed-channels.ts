import { createHash } from "node:crypto";
import { own } from "../../protocol/own.ts";
import { LATEST, RESOLVED_CHANNELS } from "../../protocol/promotion/api.ts";
import type { Documents } from "../../store/port/documents.ts";
import type { Agents, ChannelResolver } from "../agents.ts";
import { activeOf, type Deployments, isActive } from "./deployments.ts";
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
      const agent = (await agents.versionsOf(owner, agentId, { version: drawn })).find(
        ({ version }) => version === drawn,
      );
      return agent?.contentHash === own(now.versions, drawn)?.agentHash ? drawn : undefined;
    },
    async isActive(visible, agentId, channel) {
      if (!RESOLVED_CHANNELS.includes(channel)) return false;
      return serves((await readDeployments(store, visible, agentId, agents)).now, channel);
    },
  };
}

/**
 * The version for a run. Of the versions active on the channel the newest takes its share, the next one its share of the rest, and
 * so on. A run in the remainder gets undefined, and never the next best version.
 */
export function drawVersion(now: Deployments, channel: string, runId: string): string | undefined {
  let drawn = drawOf(runId, now.agentId, channel);
  for (const version of candidates(now, channel)) {
    const share = (own(now.versions, version)?.canaryPercent ?? 100) / 100;
    if (drawn < share) return version;
    drawn = (drawn - share) / (1 - share);
  }
  return undefined;
}

/** Whether any run could get a version. */
export function serves(now: Deployments, channel: string): boolean {
  return candidates(now, channel).some((version) => own(now.versions, version)?.canaryPercent !== 0);
}

function candidates(now: Deployments, channel: string): readonly string[] {
  if (channel === LATEST) return activeOf(now);
  return (own(now.channels, channel) ?? []).filter((version) => isActive(now, version));
}

const BYTES = 6;

/** A number from 0 to below 1, evenly distributed. A run that asks again before its version is recorded gets the same one. */
function drawOf(runId: string, agentId: string, channel: string): number {
  const digest = createHash("sha256")
    .update(JSON.stringify([runId, agentId, channel]))
    .digest();
  return digest.readUIntBE(0, BYTES) / 2 ** (8 * BYTES);
}
