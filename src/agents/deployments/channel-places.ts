import { own } from "../../protocol/own.ts";
import { channelsOf, type Deployments, isActive, stateOf } from "./deployments.ts";

/** The version comes first on the channel: alone, or before those that take what it leaves. */
export function putOn(now: Deployments, channel: string, version: string, alone: boolean): Deployments {
  const others = placesOn(now, channel).filter((one) => one !== version);
  return withPlaces(now, channel, alone ? [version] : [version, ...others]);
}

/** Puts the version where it takes all runs that reach it, so the versions after it get none. */
export function takeAll(now: Deployments, channel: string, version: string): Deployments {
  const places = placesOn(now, channel);
  return withPlaces(now, channel, places.slice(0, places.indexOf(version) + 1));
}

export function putLast(now: Deployments, channel: string, version: string): Deployments {
  return withPlaces(now, channel, [...placesOn(now, channel), version]);
}

export function withdraw(now: Deployments, version: string): Deployments {
  return onEach(now, version, (places) => places.filter((one) => one !== version));
}

/** Gives its place on each channel to the version that is named for the channel; where none is named, the place is dropped. */
export function replaceBy(now: Deployments, version: string, on: Readonly<Record<string, string>>): Deployments {
  return onEach(now, version, (places, channel) => {
    const by = own(on, channel);
    if (by === undefined || places.includes(by)) return places.filter((one) => one !== version);
    return places.map((one) => (one === version ? by : one));
  });
}

/** Whether the version is the last on the channel, paused ones included. */
export function isLast(now: Deployments, channel: string, version: string): boolean {
  return placesOn(now, channel).at(-1) === version;
}

/** The active version that takes the rest of the channel; undefined where there is none. A version with a share is not one. */
export function carrierOf(now: Deployments, channel: string, version: string): string | undefined {
  return othersWithoutShare(now, channel, version).find((one) => isActive(now, one));
}

/** The carrier, also where it is paused: its place stays its own. */
export function placedCarrier(now: Deployments, channel: string, version: string): string | undefined {
  const places = othersWithoutShare(now, channel, version);
  return places.find((one) => isActive(now, one)) ?? places.find((one) => stateOf(now, one) === "paused");
}

/** The other version that takes the rest, by each channel of this version. */
export function otherCarriers(now: Deployments, version: string): Readonly<Record<string, string>> {
  const found = channelsOf(now, version).map((channel) => [channel, carrierOf(now, channel, version)] as const);
  return Object.fromEntries(found.flatMap(([channel, one]) => (one === undefined ? [] : [[channel, one]])));
}

function othersWithoutShare(now: Deployments, channel: string, version: string): string[] {
  const others = placesOn(now, channel).filter((one) => one !== version);
  return others.filter((one) => own(now.versions, one)?.canaryPercent === undefined);
}

function placesOn({ channels }: Deployments, channel: string): readonly string[] {
  return own(channels, channel) ?? [];
}

function onEach(
  now: Deployments,
  version: string,
  change: (places: readonly string[], channel: string) => readonly string[],
): Deployments {
  return Object.entries(now.channels).reduce(
    (next, [channel, places]) => (places.includes(version) ? withPlaces(next, channel, change(places, channel)) : next),
    now,
  );
}

function withPlaces(now: Deployments, channel: string, places: readonly string[]): Deployments {
  const { [channel]: _, ...others } = now.channels;
  return { ...now, channels: places.length === 0 ? others : { ...others, [channel]: places } };
}
