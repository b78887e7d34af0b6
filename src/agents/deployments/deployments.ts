import { defined } from "../../protocol/defined.ts";
import { own } from "../../protocol/own.ts";
import type { AgentDeployment, DeploymentState } from "../../protocol/promotion/api.ts";
import { compareSemver } from "../../protocol/semver.ts";

/**
 * The deployments of one agent in one place. They are one record: a transition concerns several versions, and concurrent
 * transitions must conflict.
 */
export interface Deployments {
  readonly agentId: string;
  /** Deployed versions. An installed version that is not listed is a draft. */
  readonly versions: Readonly<Record<string, Deployed>>;
  /** The versions of each channel, the latest first. */
  readonly channels: Readonly<Record<string, readonly string[]>>;
  /** Transitions that people were asked about. */
  readonly asked: readonly Asked[];
}

export interface Deployed {
  readonly state: DeploymentState;
  /** The hash of the promoted content: another agent under its name and version does not count. */
  readonly agentHash: string;
  readonly canaryPercent?: number;
  /** By channel, the version that it replaced there, for a rollback. */
  readonly replacedOn?: Readonly<Record<string, string>>;
  /** The replaced version in records from before `replacedOn`: on the channel that it was put on last. */
  readonly replaced?: string;
  readonly rollbackPointer?: string;
  readonly evalRunId?: string;
  readonly approvalGateId?: string;
}

export interface Asked {
  /** The digest of the transition with everything it was decided on: an approval counts for exactly that. */
  readonly digest: string;
  readonly runId: string;
}

export function noDeployments(agentId: string): Deployments {
  return { agentId, versions: {}, channels: {}, asked: [] };
}

export function stateOf({ versions }: Deployments, version: string): DeploymentState {
  return own(versions, version)?.state ?? "draft";
}

export function isActive(deployments: Deployments, version: string): boolean {
  return stateOf(deployments, version) === "active";
}

/** The highest first. */
export function activeOf(deployments: Deployments): string[] {
  return Object.keys(deployments.versions)
    .filter((version) => isActive(deployments, version))
    .sort((a, b) => compareSemver(b, a));
}

export function channelsOf({ channels }: Deployments, version: string): string[] {
  return Object.keys(channels)
    .filter((channel) => channels[channel]?.includes(version))
    .sort();
}

/**
 * By channel, the version that this one replaced there. A version that was approved for one channel does not return on another.
 * Records of an earlier Assay have one replaced version for all channels, which is used only for a version on one channel.
 */
export function placesTaken(deployments: Deployments, version: string): Readonly<Record<string, string>> {
  const { replacedOn, replaced } = own(deployments.versions, version) ?? {};
  if (replacedOn !== undefined || replaced === undefined) return replacedOn ?? {};
  const [only, ...others] = channelsOf(deployments, version);
  return only === undefined || others.length > 0 ? {} : { [only]: replaced };
}

/** The public record of a deployed version. */
export function recordOf(deployments: Deployments, version: string): AgentDeployment {
  const { agentId, versions } = deployments;
  const deployed = own(versions, version);
  const channels = channelsOf(deployments, version);
  if (deployed === undefined) return { agentId, version, state: "draft" };
  const { state, canaryPercent, rollbackPointer, evalRunId, approvalGateId } = deployed;
  return {
    agentId,
    version,
    state,
    ...defined({ canaryPercent, rollbackPointer }),
    ...(channels.length === 0 ? {} : { channels }),
    ...defined({ evalRunId, approvalGateId }),
  };
}
