import type { Deployed, Deployments } from "../agents/deployments/deployments.ts";
import type { DeploymentState } from "../protocol/promotion/api.ts";

/** By version, up to which percent it may be drawn. Who stands behind a version that takes everything is not in here. */
export type Shares = ReadonlyMap<string, number>;

/** Where a version may be put, and a channel that nobody knows. */
export const PLACES = ["stable", "canary", "nightly"] as const;
/** Where a run may ask. */
export const SERVED = [...PLACES, "latest"] as const;

/** Read from what is stored, with none of the functions that are tested. */
export function sharesOn(now: Deployments, channel: string): Shares {
  const shares = new Map<string, number>();
  for (const version of channel === "latest" ? Object.keys(now.versions) : placesOn(now, channel)) {
    if (stateIn(now, version) !== "active") continue;
    shares.set(version, shareIn(now, version));
    if (channel !== "latest" && shareIn(now, version) === 100) break;
  }
  return shares;
}

export function placesOn(now: Deployments, channel: string): readonly string[] {
  return now.channels[channel] ?? [];
}

export function stateIn(now: Deployments, version: string): DeploymentState {
  return deployedIn(now, version)?.state ?? "draft";
}

export function shareIn(now: Deployments, version: string): number {
  return deployedIn(now, version)?.canaryPercent ?? 100;
}

export function placedOn(now: Deployments, version: string): readonly string[] {
  return PLACES.filter((channel) => placesOn(now, channel).includes(version));
}

function deployedIn(now: Deployments, version: string): Deployed | undefined {
  return now.versions[version];
}
