import { defined } from "../../protocol/defined.ts";
import { validationError } from "../../protocol/errors.ts";
import { own } from "../../protocol/own.ts";
import { CHANNELS, type DeploymentState, type DeploymentTransition } from "../../protocol/promotion/api.ts";
import { carrierOf, otherCarriers, putOn, takeAll } from "./channel-places.ts";
import { channelsOf, type Deployed, type Deployments, placesTaken, stateOf } from "./deployments.ts";
import {
  type Decide,
  type Decided,
  type Grounds,
  PROMOTES,
  requireChannel,
  requireRest,
  settled,
  waysFrom,
} from "./transition-rules.ts";

export const promote: Decide = (now, request, grounds) => {
  const { version, toState: to } = request;
  const from = stateOf(now, version);
  if (to === undefined) throw validationError("promote needs toState, which says where it leads to");
  if (from === "active" && to === "active") return alsoOn(now, request, grounds);
  if (PROMOTES[from] !== to)
    throw validationError(`${version} is ${from}: ${waysFrom(from)}, and not be promoted to ${to}`);
  requireSame(own(now.versions, version), request, grounds);
  if (to === "active") return activate(now, request, grounds);
  if (request.channel !== undefined || request.canaryPercent !== undefined) {
    throw validationError("channel and canaryPercent go with a promotion to active");
  }
  return promoted(settled(now, version, { ...grounds, state: to }), request, grounds, { from, to });
};

/** Into service: where it was before it was paused, else on the channel that is named, else on the first there is. */
const activate: Decide = (now, request, grounds) => {
  const { version, channel } = request;
  const before = own(now.versions, version);
  const onItsOwn = channelsOf(now, version);
  if (channel !== undefined && onItsOwn.some((each) => each !== channel)) {
    throw validationError(
      `${version} comes back on ${onItsOwn.join(" and ")}, where it was paused: name no channel; others come after that`,
    );
  }
  if (channel === undefined && onItsOwn.length === 0 && before?.state === "paused") {
    throw validationError(`${version} has no place to come back to: name the channel that it is to come to`);
  }
  const percent = request.canaryPercent ?? before?.canaryPercent ?? 100;
  const share = percent === 100 ? {} : { canaryPercent: percent };
  const next = settled(now, version, { ...kept(now, version), ...grounds, ...share, state: "active" });
  if (onItsOwn.length === 0) return placed(now, next, channel ?? CHANNELS[0], request, grounds);
  return cameBack(now, next, onItsOwn, request, grounds);
};

/** Returns a paused version to its place; where it takes everything now, the versions next to it leave. */
function cameBack(
  now: Deployments,
  entered: Deployments,
  channels: readonly string[],
  request: DeploymentTransition,
  grounds: Grounds,
): Decided {
  const { version } = request;
  const deployed = own(entered.versions, version) as Deployed;
  const replacedOn = { ...deployed.replacedOn, ...otherCarriers(now, version) };
  const marked = settled(entered, version, { ...deployed, replacedOn });
  const isWhole = deployed.canaryPercent === undefined;
  const next = isWhole ? channels.reduce((so, channel) => takeAll(so, channel, version), marked) : marked;
  for (const channel of channels) requireRest(next, channel, version);
  return promoted(next, request, grounds, { from: stateOf(now, version), to: "active" });
}

/** A version that is active already is added to a further channel. */
const alsoOn: Decide = (now, request, grounds) => {
  const { version, channel, canaryPercent } = request;
  const before = own(now.versions, version) as Deployed;
  if (channel === undefined || channelsOf(now, version).includes(channel)) {
    throw validationError(`${version} is active already: name a channel that it is not on, or use adjust-canary`);
  }
  if (canaryPercent !== undefined && canaryPercent !== (before.canaryPercent ?? 100)) {
    throw validationError("one share counts on all channels of a version; change it with adjust-canary");
  }
  requireSame(before, request, grounds);
  const share = before.canaryPercent === undefined ? {} : { canaryPercent: before.canaryPercent };
  const entered = settled(now, version, { ...kept(now, version), ...grounds, ...share, state: "active" });
  return placed(now, entered, channel, request, grounds);
};

function placed(
  now: Deployments,
  entered: Deployments,
  channel: string,
  request: DeploymentTransition,
  grounds: Grounds,
): Decided {
  const { version } = request;
  requireChannel(channel);
  const deployed = own(entered.versions, version) as Deployed;
  const prior = carrierOf(now, channel, version);
  // The version that it replaced before is not the one that returns now.
  const { [channel]: _, ...elsewhere } = deployed.replacedOn ?? {};
  const replacedOn = { ...elsewhere, ...(prior === undefined ? {} : { [channel]: prior }) };
  const marked = settled(entered, version, { ...deployed, replacedOn });
  const next = putOn(marked, channel, version, deployed.canaryPercent === undefined);
  requireRest(next, channel, version);
  const from = stateOf(now, version);
  return promoted(next, request, grounds, { from, to: "active", channel, ...defined({ prior }) });
}

interface Path {
  readonly from: DeploymentState;
  readonly to: DeploymentState;
  readonly channel?: string;
  readonly prior?: string;
}

function promoted(
  next: Deployments,
  { version, canaryPercent }: DeploymentTransition,
  { evalRunId, approvalGateId }: Grounds,
  { from, to, channel, prior }: Path,
): Decided {
  const payload = {
    agentId: next.agentId,
    toVersion: version,
    toState: to,
    ...defined({ fromVersion: prior, channel, canaryPercent, evalRunId, approvalGateId }),
  };
  return { next, events: [{ type: "deployment.promoted", payload }], from, to, ...defined({ other: prior }) };
}

/** The evidence of the last promotion is not kept for this one. */
function kept(now: Deployments, version: string): Pick<Deployed, "replacedOn"> {
  return { replacedOn: placesTaken(now, version) };
}

/** Only the content that was promoted before can be promoted further. */
function requireSame(before: Deployed | undefined, { version }: DeploymentTransition, { agentHash }: Grounds): void {
  if (before === undefined || before.agentHash === agentHash) return;
  throw validationError(`${version} as it is installed here is not what was promoted before; raise its version`);
}
