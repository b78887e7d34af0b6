import { closed, Name, type Static, Type } from "../schema.ts";
import { DEPLOYMENT_STATES, DeploymentState } from "./events.ts";

export { CHANNELS, LATEST, RESOLVED_CHANNELS } from "./deployment-channels.ts";
export { DEPLOYMENT_STATES, DeploymentState } from "./events.ts";
export { Condition } from "./evidence.ts";

const Version = Type.String({ minLength: 1, maxLength: 64 });
const Percent = Type.Integer({ minimum: 0, maximum: 100 });

/** The workflow of deployment runs. Only the host starts them. */
export const DEPLOYMENT_WORKFLOW_ID = "assay-deployment";

export const TRANSITIONS = ["promote", "pause", "deprecate", "rollback", "adjust-canary"] as const;
export type TransitionWord = (typeof TRANSITIONS)[number];

/** The deployment of one version of an agent. */
export const AgentDeployment = Type.Object(
  {
    agentId: Type.String({ minLength: 3, maxLength: 256 }),
    version: Version,
    state: DeploymentState,
    canaryPercent: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 100, description: "its share of its channels; absent is all of it" }),
    ),
    rollbackPointer: Type.Optional(
      Type.String({ maxLength: 64, description: "the version that took its place; only of what was rolled back" }),
    ),
    channels: Type.Optional(Type.Array(Name, { uniqueItems: true })),
    evalRunId: Type.Optional(Type.String({ minLength: 1, description: "the evaluation its last promotion rests on" })),
    approvalGateId: Type.Optional(Type.String({ minLength: 1, description: "the gate people let it pass by" })),
  },
  closed,
);
export type AgentDeployment = Static<typeof AgentDeployment>;

export const AgentDeployments = Type.Array(AgentDeployment, { description: "by version, the lowest first" });

/** `POST /v1/agents/{agentId}/deployments` */
export const DeploymentTransition = Type.Object(
  {
    version: Version,
    transition: Type.Enum([...TRANSITIONS]),
    toState: Type.Optional(Type.Enum([...DEPLOYMENT_STATES], { description: "where a promotion leads to" })),
    channel: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: "who names it gets this version" })),
    canaryPercent: Type.Optional(Percent),
    evalRunId: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: "the evaluation that proves it" }),
    ),
    reason: Type.Optional(
      Type.String({ minLength: 1, maxLength: 512, description: "a label, like latency-regression" }),
    ),
  },
  closed,
);
export type DeploymentTransition = Static<typeof DeploymentTransition>;
