import { AGENT_ID_PATTERN } from "../agents/agent-manifest.ts";
import { closed, Positive, ShortName, type Static, Type } from "../schema.ts";
import { PolicyEvidence, YEAR_SEC } from "./evidence.ts";

export { PolicyEvidence } from "./evidence.ts";

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
