import { decideTransition } from "../agents/deployments/decide-transition.ts";
import type { Deployments } from "../agents/deployments/deployments.ts";
import type { DeploymentTransition, PolicyRule } from "../protocol/promotion/api.ts";
import { placedOn, shareIn, stateIn } from "./served-shares.ts";
import { type Rise, risesIn } from "./service-model.ts";

/** What people are shown, and what a yes would bring about at that moment. */
export interface Shown {
  readonly text: string;
  readonly rises: readonly Rise[];
}

export interface Sent {
  readonly now: Deployments;
  readonly request: DeploymentTransition;
  readonly agentHash: string;
  readonly rule: PolicyRule;
}

export function shownFor({ now, request, agentHash, rule }: Sent): Shown {
  const { version } = request;
  const state = stateIn(now, version);
  const share = state === "active" || state === "paused" ? shareIn(now, version) : 0;
  const text = JSON.stringify({ request, agentHash, rule, state, channels: placedOn(now, version), share });
  return { text, rises: risesIn({ before: now, after: decideTransition(now, request, { agentHash }).next }) };
}

/** What would come about now although it is not what a yes was given to. */
export function beyond(asked: Shown, applied: Shown): string[] {
  const other = asked.text === applied.text ? [] : [`people were shown ${asked.text} and it is ${applied.text}`];
  const more = applied.rises.filter((rise) => {
    const was = asked.rises.find(({ version, channel }) => version === rise.version && channel === rise.channel);
    return rise.share > (was?.share ?? 0);
  });
  return [...other, ...more.map((rise) => `people were not asked about ${JSON.stringify(rise)}`)];
}

/** What a policy has a rule for. */
export function stepOf({ transition, toState }: DeploymentTransition): string {
  return transition === "promote" ? String(toState) : transition;
}
