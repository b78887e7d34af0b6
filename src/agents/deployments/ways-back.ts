import { own } from "../../protocol/own.ts";
import { placedCarrier } from "./channel-places.ts";
import { channelsOf, type Deployed, type Deployments, placesTaken, stateOf } from "./deployments.ts";
import { refuse, settled } from "./transition-rules.ts";

type Ways = readonly (readonly [channel: string, target: string])[];

/**
 * By channel, the version that returns when this one is rolled back; for a version that is active nowhere, those that it replaced
 * before.
 */
export function waysBack(now: Deployments, version: string): Readonly<Record<string, string>> {
  const serves = channelsOf(now, version);
  const ways = serves.length === 0 ? Object.entries(placesTaken(now, version)) : waysFromEach(now, version, serves);
  for (const [channel, target] of ways) {
    const state = stateOf(now, target);
    if (state !== "active" && state !== "paused") {
      throw refuse(`${version} took the place of ${target}, which is ${state} by now and cannot come back; pause it`);
    }
    if (serves.length === 0) continue;
    requireWhole(now, version, target, channel);
    requireNoOtherPause(now, version, target, ways);
  }
  return Object.fromEntries(ways);
}

/** Brings the targets back with their shares, and only where the version leaves a place: one that is not active leaves none. */
export function broughtBack(now: Deployments, version: string, targets: readonly string[]): Deployments {
  if (channelsOf(now, version).length === 0) return now;
  return targets.reduce(
    (so, target) => settled(so, target, { ...(own(so.versions, target) as Deployed), state: "active" }),
    now,
  );
}

/** Where another version carries a channel, that one gets the share, whichever version was there before. */
function waysFromEach(now: Deployments, version: string, serves: readonly string[]): Ways {
  const taken = placesTaken(now, version);
  return serves.flatMap((channel) => {
    const target = placedCarrier(now, channel, version) ?? own(taken, channel);
    return target === undefined ? [] : [[channel, target] as const];
  });
}

/** A version with a share of the runs does not return for all of them. */
function requireWhole(now: Deployments, version: string, target: string, channel: string): void {
  const percent = own(now.versions, target)?.canaryPercent;
  if (percent === undefined) return;
  throw refuse(
    `${version} replaced ${target}, which has a share of ${percent} % and no version to serve the rest on ${channel}; pause it`,
  );
}

/** A way back on one channel ends no pause on another. */
function requireNoOtherPause(now: Deployments, version: string, target: string, ways: Ways): void {
  if (stateOf(now, target) !== "paused") return;
  const back = ways.filter(([, one]) => one === target).map(([channel]) => channel);
  const elsewhere = channelsOf(now, target).filter((channel) => !back.includes(channel));
  if (elsewhere.length === 0) return;
  throw refuse(
    `${version} took the place of ${target}, which is paused on ${elsewhere.join(" and ")} too; promote ${target} to active first, or pause ${version}`,
  );
}
