import { validationError } from "../../protocol/errors.ts";
import type { EventDraft } from "../../protocol/events.ts";
import { own } from "../../protocol/own.ts";
import { CHANNELS, type DeploymentTransition } from "../../protocol/promotion/api.ts";
import { isLast, otherCarriers, placedCarrier, putLast, replaceBy, takeAll, withdraw } from "./channel-places.ts";
import { promote } from "./decide-promotion.ts";
import { channelsOf, type Deployed, type Deployments, isActive, placesTaken, stateOf } from "./deployments.ts";
import { checkFields, type Decide, regrounded, requireActive, requireRest, settled } from "./transition-rules.ts";

/** Decides a transition; pure. Throws `validation_error` for every move that is not in the table, with the allowed ones. */
export const decideTransition: Decide = (now, request, grounds) => {
  checkFields(request);
  return DECIDE[request.transition](now, request, grounds);
};

const leave =
  (to: "paused" | "deprecated"): Decide =>
  (now, request, grounds) => {
    const { version } = request;
    const before = requireActive(now, request);
    const next = settled(now, version, { ...regrounded(before, grounds), state: to });
    const payload = { agentId: now.agentId, version, fromState: "active" as const, toState: to };
    return {
      // A paused version keeps its place: its runs go to no other version meanwhile.
      next: to === "paused" ? next : withdraw(next, version),
      events: [{ type: "deployment.state.changed", payload }],
      from: "active",
      to,
    };
  };

const rollback: Decide = (now, request, grounds) => {
  const { version, reason } = request;
  const before = requireActive(now, request);
  const back = waysBack(now, version);
  const targets = [...new Set(CHANNELS.flatMap((channel) => own(back, channel) ?? []))];
  const [first] = targets;
  if (first === undefined)
    throw validationError(`${version} replaced no version, so there is none to go back to; pause it`);
  const { agentId } = now;
  const label = reason !== undefined && LABEL.test(reason) ? { reason } : {};
  const { canaryPercent: _, ...left } = before;
  const ended = { ...regrounded(left, grounds), state: "rolled-back", rollbackPointer: first } as const;
  const gone = settled(now, version, ended);
  const restored = broughtBack(gone, version, targets);
  return {
    next: replaceBy(restored, version, back),
    events: targets.flatMap((target) => {
      const fromState = stateOf(now, target);
      const rolledBack: EventDraft = {
        type: "deployment.rolled-back",
        payload: { agentId, fromVersion: version, toVersion: target, rollbackPointer: target, ...label },
      };
      const changed: EventDraft = {
        type: "deployment.state.changed",
        payload: { agentId, version: target, fromState, toState: "active" },
      };
      return stateOf(restored, target) === fromState ? [rolledBack] : [rolledBack, changed];
    }),
    from: "active",
    to: "rolled-back",
    other: targets.length === 1 ? first : CHANNELS.flatMap((each) => textOf(each, own(back, each))).join(", "),
  };
};

function textOf(channel: string, version: string | undefined): string[] {
  return version === undefined ? [] : [`${version} on ${channel}`];
}

/** Events hold labels, and no prose. */
const LABEL = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;

const adjustCanary: Decide = (now, request, grounds) => {
  const { version, canaryPercent: toPercent } = request;
  const { canaryPercent: fromPercent = 100, ...before } = requireActive(now, request);
  if (toPercent === undefined) throw validationError("adjust-canary needs canaryPercent");
  if (fromPercent === toPercent) throw validationError(`${version} has ${toPercent} % already`);
  const share = toPercent === 100 ? {} : { canaryPercent: toPercent };
  const replacedOn = { ...placesTaken(now, version), ...otherCarriers(now, version) };
  const kept = { ...regrounded(before, grounds), ...share, replacedOn };
  const next = channelsOf(now, version).reduce(
    (shared, channel) => (toPercent === 100 ? takeAll(shared, channel, version) : leaveRest(shared, channel, version)),
    settled(now, version, kept),
  );
  const payload = { agentId: now.agentId, version, fromPercent, toPercent };
  return { next, events: [{ type: "deployment.canary.adjusted", payload }], from: "active", to: "active" };
};

/** The version that it replaced takes the rest, where no other does so yet. */
function leaveRest(now: Deployments, channel: string, version: string): Deployments {
  const replaced = own(placesTaken(now, version), channel);
  const returns = isLast(now, channel, version) && replaced !== undefined && isActive(now, replaced);
  const next = returns && !now.channels[channel]?.includes(replaced) ? putLast(now, channel, replaced) : now;
  requireRest(next, channel, version);
  return next;
}

const DECIDE: Readonly<Record<DeploymentTransition["transition"], Decide>> = {
  promote,
  pause: leave("paused"),
  deprecate: leave("deprecated"),
  rollback,
  "adjust-canary": adjustCanary,
};

type Ways = readonly (readonly [channel: string, target: string])[];

/**
 * By channel, the version that returns when this one is rolled back; for a version that is active nowhere, those that it replaced
 * before.
 */
function waysBack(now: Deployments, version: string): Readonly<Record<string, string>> {
  const serves = channelsOf(now, version);
  const ways = serves.length === 0 ? Object.entries(placesTaken(now, version)) : waysFromEach(now, version, serves);
  for (const [channel, target] of ways) {
    const state = stateOf(now, target);
    if (state !== "active" && state !== "paused") {
      throw validationError(
        `${version} took the place of ${target}, which is ${state} by now and cannot come back; pause it`,
      );
    }
    if (serves.length === 0) continue;
    requireWhole(now, version, target, channel);
    requireNoOtherPause(now, version, target, ways);
  }
  return Object.fromEntries(ways);
}

/** Brings the targets back with their shares, and only where the version leaves a place: one that is not active leaves none. */
function broughtBack(now: Deployments, version: string, targets: readonly string[]): Deployments {
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
  throw validationError(
    `${version} replaced ${target}, which has a share of ${percent} % and no version to serve the rest on ${channel}; pause it`,
  );
}

/** A way back on one channel ends no pause on another. */
function requireNoOtherPause(now: Deployments, version: string, target: string, ways: Ways): void {
  if (stateOf(now, target) !== "paused") return;
  const back = ways.filter(([, one]) => one === target).map(([channel]) => channel);
  const elsewhere = channelsOf(now, target).filter((channel) => !back.includes(channel));
  if (elsewhere.length === 0) return;
  throw validationError(
    `${version} took the place of ${target}, which is paused on ${elsewhere.join(" and ")} too; promote ${target} to active first, or pause ${version}`,
  );
}
