import { own } from "../../protocol/own.ts";
import type { AgentDeployment, DeploymentState } from "../../protocol/promotion/api.ts";
import { compareSemver } from "../../protocol/semver.ts";

/**
 * What became of the versions of one agent in one place. They are kept together: a transition concerns several of them, and two
 * that are decided at the same time have to meet.
 */
export interface Deployments {
  readonly agentId: string;
  /** By version. An installed version that is not in here is a draft. */
  readonly versions: Readonly<Record<string, Deployed>>;
  /** Who serves whom: by channel, the one that was put there last comes first. */
  readonly channels: Readonly<Record<string, readonly string[]>>;
  /** Transitions that people were asked about. */
  readonly asked: readonly Asked[];
}

export interface Deployed {
  readonly state: DeploymentState;
  /** What was promoted, to the last character: another agent under its name and version is not it. */
  readonly agentHash: string;
  readonly canaryPercent?: number;
  /** By channel, the version whose place it took there, for the way back. */
  readonly replacedOn?: Readonly<Record<string, string>>;
  /** What was kept before there was `replacedOn`: of the channel that it was put on last. */
  readonly replaced?: string;
  readonly rollbackPointer?: string;
  readonly evalRunId?: string;
  readonly approvalGateId?: string;
}

export interface Asked {
  /** Of the transition with all that was decided on: an approval counts for exactly that. */
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
 * By channel, the version whose place this one took there. Who was approved for one channel does not come back on another. Where an
 * earlier version of Assay kept one for all channels, it is known for a version on one channel only.
 */
export function placesTaken(deployments: Deployments, version: string): Readonly<Record<string, string>> {
  const { replacedOn, replaced } = own(deployments.versions, version) ?? {};
  if (replacedOn !== undefined || replaced === undefined) return replacedOn ?? {};
  const [only, ...others] = channelsOf(deployments, version);
  return only === undefined || others.length > 0 ? {} : { [only]: replaced };
}

/** As everybody may read it. */
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
    ...(canaryPercent === undefined ? {} : { canaryPercent }),
    ...(rollbackPointer === undefined ? {} : { rollbackPointer }),
    ...(channels.length === 0 ? {} : { channels }),
    ...(evalRunId === undefined ? {} : { evalRunId }),
    ...(approvalGateId === undefined ? {} : { approvalGateId }),
  };
}
