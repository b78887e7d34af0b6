import type { Deployments } from "../agents/deployments/deployments.ts";
import type { DeploymentTransition } from "../protocol/promotion/api.ts";
import { PLACES, placedOn, placesOn, SERVED, shareIn, sharesOn, stateIn } from "./served-shares.ts";

/** A transition that was applied, with what is stored before and after. */
export interface Step {
  readonly before: Deployments;
  readonly request: DeploymentTransition;
  readonly after: Deployments;
}

/** A version that serves more of a channel than before. */
export interface Rise {
  readonly version: string;
  readonly channel: string;
  readonly share: number;
}

export function risesIn({ before, after }: Pick<Step, "before" | "after">): Rise[] {
  return SERVED.flatMap((channel) => {
    const had = sharesOn(before, channel);
    const all = [...sharesOn(after, channel)].map(([version, share]) => ({ version, channel, share }));
    return all.filter(({ version, share }) => share > (had.get(version) ?? 0));
  });
}

/**
 * What may serve, stated without the code that decides it: a version serves a share of a channel that a transition named for it, or
 * comes back to one that it lost to the version that leaves. Everything else stays as it is.
 */
export class ServiceModel {
  /** By version and channel: who served there when it came, and with which share. */
  readonly #taken = new Map<string, ReadonlyMap<string, number>>();

  /** What is wrong with the step; nothing where all is well. */
  check(step: Step): string[] {
    const wrong = [
      ...risesIn(step).flatMap((rise) => (this.#mayRise(step, rise) ? [] : [`serves more: ${textOf(rise)}`])),
      ...lossesIn(step),
      ...statesIn(step),
      ...restsIn(step),
    ];
    this.#note(step);
    return wrong;
  }

  #mayRise(step: Step, rise: Rise): boolean {
    const { transition, version } = step.request;
    if (rise.version === version) return transition === "promote" ? isNamed(step, rise) : isAdjusted(step, rise);
    if (transition !== "rollback" && transition !== "adjust-canary") return false;
    return rise.channel === "latest" ? this.#returns(step, rise) : this.#comesBack(step, rise);
  }

  /** To a channel that it lost to the version that leaves, or where it was paused beside it. */
  #comesBack({ before, request, after }: Step, { version, channel, share }: Rise): boolean {
    const taker = request.version;
    if (!placesOn(before, channel).includes(taker) || standsIn(before, after, channel, version)) return false;
    const had = this.#taken.get(`${taker} ${channel}`)?.get(version) ?? 0;
    if (request.transition === "adjust-canary") return shareIn(before, taker) === 100 && share <= had;
    const wasPaused = stateIn(before, version) === "paused" && placesOn(before, channel).includes(version);
    return share <= had || (wasPaused && share <= shareIn(before, version));
  }

  /** Whoever comes back on a channel is active again, and so among those that are the latest. */
  #returns(step: Step, { version, share }: Rise): boolean {
    const back = risesIn(step).filter((one) => one.version === version && one.channel !== "latest");
    return back.length > 0 && share <= shareIn(step.before, version);
  }

  #note({ before, request, after }: Step): void {
    const { version } = request;
    for (const channel of PLACES) {
      const came = !placesOn(before, channel).includes(version) && placesOn(after, channel).includes(version);
      const has = sharesOn(after, channel);
      const served = sharesOn(before, channel);
      const tookAll = has.has(version) && [...served.keys()].some((one) => !has.has(one));
      if (came || tookAll) this.#taken.set(`${version} ${channel}`, served);
    }
  }
}

/** A promotion names one channel, or brings a version back on all those where it was paused. */
function isNamed({ before, request }: Step, { channel, share, version }: Rise): boolean {
  const { toState, canaryPercent } = request;
  const from = stateIn(before, version);
  if (toState !== "active") return false;
  const named = from === "active" ? shareIn(before, version) : (canaryPercent ?? shareIn(before, version));
  if (share > named) return false;
  if (channel === "latest") return true;
  const own = placedOn(before, version);
  if (from === "paused") return own.length > 0 ? own.includes(channel) : channel === request.channel;
  return channel === (request.channel ?? (from === "staged" ? "stable" : undefined));
}

function isAdjusted({ before, request }: Step, { channel, share, version }: Rise): boolean {
  if (request.transition !== "adjust-canary" || share > (request.canaryPercent ?? 0)) return false;
  return channel === "latest" || placesOn(before, channel).includes(version);
}

/** Whether the version serves in the place of another one that is paused there. */
function standsIn(before: Deployments, after: Deployments, channel: string, version: string): boolean {
  const isPaused = (now: Deployments, one: string) =>
    placesOn(now, channel).includes(one) && stateIn(now, one) === "paused" && shareIn(now, one) === 100;
  return placesOn(before, channel).some((one) => one !== version && isPaused(before, one) && isPaused(after, one));
}

/** Others serve less only where the version takes everything; it serves less only where that is what was asked. */
function lossesIn(step: Step): string[] {
  const { before, request, after } = step;
  const { version, transition, canaryPercent } = request;
  const takes = transition === "promote" || transition === "adjust-canary";
  return SERVED.flatMap((channel) => {
    const has = sharesOn(after, channel);
    const tookAll = takes && channel !== "latest" && has.get(version) === 100;
    return [...sharesOn(before, channel)].flatMap(([one, share]) => {
      const left = has.get(one) ?? 0;
      if (left >= share) return [];
      const isAsked = takes ? transition === "adjust-canary" && left === canaryPercent && has.has(one) : true;
      return (one === version ? isAsked : tookAll) ? [] : [`vanishes: ${one} on ${channel} from ${share} to ${left}`];
    });
  });
}

const LEADS_TO = {
  pause: "paused",
  deprecate: "deprecated",
  rollback: "rolled-back",
  "adjust-canary": "active",
} as const;

function statesIn(step: Step): string[] {
  const { before, request, after } = step;
  const { transition, version, toState } = request;
  const back = new Set(risesIn(step).flatMap((rise) => (rise.channel === "latest" ? [] : [rise.version])));
  return Object.keys(after.versions).flatMap((one) => {
    const [from, to] = [stateIn(before, one), stateIn(after, one)];
    const expected = transition === "promote" ? toState : LEADS_TO[transition];
    const isLegal =
      one === version
        ? to === expected
        : from === to || (transition === "rollback" && from === "paused" && to === "active" && back.has(one));
    return isLegal ? [] : [`${one} went from ${from} to ${to}`];
  });
}

/** A new share that leaves the rest to nobody makes runs fail by chance. */
function restsIn({ before, request, after }: Step): string[] {
  const { version, transition } = request;
  if (transition !== "promote" && transition !== "adjust-canary") return [];
  return PLACES.flatMap((channel) => {
    const shares = sharesOn(after, channel);
    const isWhole = [...shares.values()].includes(100);
    const isAsBefore = sharesOn(before, channel).get(version) === shares.get(version);
    return isAsBefore || isWhole ? [] : [`nobody serves the rest of ${channel} beside ${version}`];
  });
}

function textOf({ version, channel, share }: Rise): string {
  return `${version} with ${share} % on ${channel}`;
}
