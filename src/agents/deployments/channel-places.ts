import { own } from "../../protocol/own.ts";
import { type Deployments, isActive } from "./deployments.ts";

/** The version comes first on the channel: alone, or before those that take what it leaves. */
export function putOn(now: Deployments, channel: string, version: string, alone: boolean): Deployments {
  const others = placesOn(now, channel).filter((one) => one !== version);
  return withPlaces(now, channel, alone ? [version] : [version, ...others]);
}

/** It takes all that reaches it, so those after it are left with nothing. */
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

/** On each channel its place goes to the version that is named for it; where none is, to nobody. */
export function replaceBy(now: Deployments, version: string, on: Readonly<Record<string, string>>): Deployments {
  return onEach(now, version, (places, channel) => {
    const by = own(on, channel);
    if (by === undefined || places.includes(by)) return places.filter((one) => one !== version);
    return places.map((one) => (one === version ? by : one));
  });
}

/** Who takes what the version leaves of the channel; undefined where nobody does. */
export function nextAfter(now: Deployments, channel: string, version: string): string | undefined {
  const places = placesOn(now, channel);
  return places.slice(places.indexOf(version) + 1).find((one) => isActive(now, one));
}

/** Who serves most of a channel: whoever takes all that is left, before those with a share only. */
export function carrierOf(now: Deployments, channel: string, besides: string): string | undefined {
  const active = placesOn(now, channel).filter((one) => one !== besides && isActive(now, one));
  return active.find((one) => own(now.versions, one)?.canaryPercent === undefined) ?? active[0];
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
