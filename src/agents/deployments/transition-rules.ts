import { defined } from "../../protocol/defined.ts";
import { validationError } from "../../protocol/errors.ts";
import type { EventDraft } from "../../protocol/events.ts";
import { own } from "../../protocol/own.ts";
import {
  CHANNELS,
  type DeploymentState,
  type DeploymentTransition,
  LATEST,
  type TransitionWord,
} from "../../protocol/promotion/api.ts";
import { carrierOf } from "./channel-places.ts";
import { type Deployed, type Deployments, isActive, stateOf } from "./deployments.ts";

/** The result of a legal transition. It takes effect when it is committed. */
export interface Decided {
  readonly next: Deployments;
  readonly events: readonly EventDraft[];
  readonly from: DeploymentState;
  readonly to: DeploymentState;
  /** The version whose place it takes, or that comes back. */
  readonly other?: string;
}

/** The evidence and the approval of a transition, for the record. */
export interface Grounds {
  readonly agentHash: string;
  readonly evalRunId?: string;
  readonly approvalGateId?: string;
}

export type Decide = (now: Deployments, request: DeploymentTransition, grounds: Grounds) => Decided;

/** The states that each state can be promoted to. From paused it is the return. */
export const PROMOTES: Readonly<Partial<Record<DeploymentState, DeploymentState>>> = {
  draft: "test",
  test: "staged",
  staged: "active",
  paused: "active",
};

const LEADS_TO: Readonly<Record<Exclude<TransitionWord, "promote">, DeploymentState>> = {
  pause: "paused",
  deprecate: "deprecated",
  rollback: "rolled-back",
  "adjust-canary": "active",
};

/** Fields that a transition does not use are refused: they may be a grave mistake of the sender. */
export function checkFields({ transition, toState, channel, canaryPercent }: DeploymentTransition): void {
  if (transition === "promote") return;
  if (channel !== undefined) throw validationError("channel goes with promote");
  if (canaryPercent !== undefined && transition !== "adjust-canary") {
    throw validationError("canaryPercent goes with promote and adjust-canary");
  }
  const to = LEADS_TO[transition];
  if (toState !== undefined && toState !== to)
    throw validationError(`${transition} leads to ${to}, and not to ${toState}`);
}

export function requireActive(now: Deployments, { version, transition }: DeploymentTransition): Deployed {
  const deployed = own(now.versions, version);
  if (deployed !== undefined && isActive(now, version)) return deployed;
  const state = stateOf(now, version);
  throw validationError(`${version} is ${state}: ${waysFrom(state)}; ${transition} is for active versions`);
}

export function requireChannel(channel: string): void {
  if (channel === LATEST) throw validationError(`${LATEST} is the highest active version; nothing is put there`);
  if ((CHANNELS as readonly string[]).includes(channel)) return;
  throw validationError(`there is no channel ${channel} here; there are ${CHANNELS.join(" and ")}`);
}

/** A share is refused where no version takes the rest: runs would fail by chance. */
export function requireRest(now: Deployments, channel: string, version: string): void {
  const percent = own(now.versions, version)?.canaryPercent ?? 100;
  if (percent === 100 || carrierOf(now, channel, version) !== undefined) return;
  throw validationError(`no other version is active on ${channel} to serve the other ${100 - percent} %`);
}

export function waysFrom(state: DeploymentState): string {
  if (state === "active") return "it can be paused, deprecated or rolled back, or get another share";
  const to = PROMOTES[state];
  return to === undefined ? "nothing leads on from there, install another version" : `it can be promoted to ${to}`;
}

export function settled(now: Deployments, version: string, deployed: Deployed): Deployments {
  return { ...now, versions: { ...now.versions, [version]: deployed } };
}

/** Keeps the content and the evaluation of a version that stays deployed. The gate belonged to another transition. */
export function regrounded(before: Deployed, { evalRunId, approvalGateId }: Grounds): Deployed {
  const { approvalGateId: _, ...kept } = before;
  return { ...kept, ...defined({ evalRunId, approvalGateId }) };
}
