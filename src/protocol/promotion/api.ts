export { DEPLOYMENT_STATES, DeploymentState } from "./events.ts";
export { Condition, PolicyEvidence } from "./evidence.ts";

import { AGENT_ID_PATTERN } from "../agents/agent-manifest.ts";
import { closed, Name, Positive, ShortName, type Static, Type } from "../schema.ts";
import { DEPLOYMENT_STATES, DeploymentState } from "./events.ts";
import { PolicyEvidence, YEAR_SEC } from "./evidence.ts";

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

/** Channels a version can be put on. */
export const CHANNELS = ["stable", "canary"] as const;
/** The highest active version, whatever channels it is on; nothing is put there. */
export const LATEST = "latest";
export const RESOLVED_CHANNELS: readonly string[] = [...CHANNELS, LATEST];

const Count = Type.Integer({ minimum: 1, maximum: 1000 });

/** The approvers of a transition. Its requester is not among them, unless the policy allows it. */
export const PolicyGate = Type.Object(
  {
    requiredRole: Type.Optional(ShortName),
    requiredScope: Type.Optional(ShortName),
    quorum: Type.Optional(Count),
    minHumans: Type.Optional(Count),
    requireIndependentVoters: Type.Optional(Type.Boolean()),
    forbidSelfApproval: Type.Optional(Type.Boolean({ description: "default true" })),
    override: Type.Optional(Type.Object({ requiredRole: ShortName }, closed)),
    overrideBypassesQuorum: Type.Optional(Type.Boolean()),
    timeoutSec: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: YEAR_SEC,
        description: "no answer by then is a rejection; default one week",
      }),
    ),
    applyWithinSec: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: YEAR_SEC,
        description: "how long an approval is valid; default one day",
      }),
    ),
  },
  closed,
);
export type PolicyGate = Static<typeof PolicyGate>;

export const PolicyRule = Type.Object(
  { gate: Type.Optional(PolicyGate), requiredEval: Type.Optional(PolicyEvidence) },
  closed,
);
export type PolicyRule = Static<typeof PolicyRule>;

const Rule = Type.Optional(PolicyRule);

/** Requirements of each transition of an agent in addition to the scope. A transition without a rule needs the scope only. */
export const PromotionRules = Type.Object(
  {
    promote: Type.Optional(
      Type.Object({ test: Rule, staged: Rule, active: Rule }, { ...closed, description: "by where it leads to" }),
    ),
    rollback: Rule,
    pause: Rule,
    deprecate: Rule,
    "adjust-canary": Rule,
  },
  closed,
);
export type PromotionRules = Static<typeof PromotionRules>;

/** For agents that have no policy of their own. */
export const DEFAULT_POLICY = "default";
/** An agent, or `default`. */
export const POLICY_SUBJECT_PATTERN = `^${DEFAULT_POLICY}$|${AGENT_ID_PATTERN}`;

export const PromotionPolicy = Type.Object(
  {
    subject: Type.String({ description: "an agent, or default for those without a policy of their own" }),
    rules: PromotionRules,
    revision: Positive,
    setBy: ShortName,
    setAt: ShortName,
  },
  closed,
);
export type PromotionPolicy = Static<typeof PromotionPolicy>;

export const PromotionPolicies = Type.Object({ policies: Type.Array(PromotionPolicy) }, closed);
export type PromotionPolicies = Static<typeof PromotionPolicies>;
