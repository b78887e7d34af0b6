import { closed, Name, Type } from "../schema.ts";

const Percent = Type.Integer({ minimum: 0, maximum: 100 });

export const DEPLOYMENT_STATES = ["draft", "test", "staged", "active", "paused", "deprecated", "rolled-back"] as const;
export type DeploymentState = (typeof DEPLOYMENT_STATES)[number];
export const DeploymentState = Type.Enum([...DEPLOYMENT_STATES]);

/** Events of deployments, on a run of their own. Part of the catalogue in `events.ts`. */
export const DEPLOYMENT_EVENTS = {
  "deployment.promoted": {
    tier: "updates",
    summary: "A version of an agent has gone one step further.",
    payload: Type.Object(
      {
        agentId: Name,
        toVersion: Name,
        toState: DeploymentState,
        fromVersion: Type.Optional(Name),
        channel: Type.Optional(Name),
        canaryPercent: Type.Optional(Percent),
        evalRunId: Type.Optional(Name),
        approvalGateId: Type.Optional(Name),
      },
      closed,
    ),
  },
  "deployment.rolled-back": {
    tier: "updates",
    summary: "A version gave way to one that was active before.",
    payload: Type.Object(
      {
        agentId: Name,
        fromVersion: Name,
        toVersion: Name,
        rollbackPointer: Name,
        reason: Type.Optional(Name),
      },
      closed,
    ),
  },
  "deployment.canary.adjusted": {
    tier: "updates",
    summary: "Another share of the runs that name a channel gets this version.",
    payload: Type.Object({ agentId: Name, version: Name, fromPercent: Percent, toPercent: Percent }, closed),
  },
  "deployment.state.changed": {
    tier: "updates",
    summary: "A version of an agent is in another state.",
    payload: Type.Object(
      { agentId: Name, version: Name, fromState: DeploymentState, toState: DeploymentState },
      closed,
    ),
  },
} as const;
