import { defined } from "../../protocol/defined.ts";
import { AUTH_REQUIRED } from "../../protocol/gates/interrupt.ts";
import { APPROVER_FIELDS, GOVERNED_FIELDS } from "../../protocol/gates/interrupt-data.ts";
import { NamedEvidence, vagueEvidence } from "../../protocol/promotion/evidence.ts";
import { matches, type Static, Type } from "../../protocol/schema.ts";
import { registeredSchema } from "../schemas/decide/schema-limits.ts";
import type { NodeType, Ports } from "../worker/node-type.ts";
import {
  ARTIFACT_FIELDS,
  artifactOf,
  BRANCH_FIELDS,
  DEADLINE_FIELDS,
  GOVERNED_GATE,
  IN_CONFIG,
  inVain,
  misplaced,
  ResumeSchema,
  timeoutOf,
  unknownMember,
} from "./gate-config.ts";

const Config = Type.Object(
  {
    ...GOVERNED_FIELDS,
    resumeSchema: ResumeSchema,
    ...ARTIFACT_FIELDS,
    forbidSelfApproval: APPROVER_FIELDS.forbidSelfApproval,
    minHumans: APPROVER_FIELDS.minHumans,
    requireBoundVotes: APPROVER_FIELDS.requireBoundVotes,
    requireIndependentVoters: APPROVER_FIELDS.requireIndependentVoters,
    audience: APPROVER_FIELDS.audience,
    ...DEADLINE_FIELDS,
    ...BRANCH_FIELDS,
  },
  { additionalProperties: true },
);
type Config = Static<typeof Config>;

const RULES = [
  ...["requiredRole", "requiredScope", "quorum", "override", "overrideBypassesQuorum", "timeoutSec", "requiredEval"],
  ...["forbidSelfApproval", "minHumans", "requireBoundVotes", "requireIndependentVoters", "audience"],
];

/** A gate with a role or scope, a quorum of distinct principals and an audited override. A rejection follows the workflow's edges. */
export const governedGate: NodeType = {
  kind: "pure",
  typeId: GOVERNED_GATE,
  summary: "Waits for grants of principals with a role or scope. A rejection, or no answer in time, follows its edges.",
  config: Config,
  check: problemWith,
  asksPerson: () => true,
  execute: ({ node, config, inputs, answerTo }) => {
    const { resumeSchema } = config as Config;
    const rules = RULES.filter((name) => config[name] !== undefined).map((name) => [name, config[name]]);
    const { outcome, reason, by, value } = answerTo({
      kind: "approval",
      data: {
        ...artifactOf(node, config, inputs),
        actions: ["accept", "reject"],
        gateId: node.id,
        ...Object.fromEntries(rules),
        ...evidenceNamed(config as Config, inputs),
      },
      profile: AUTH_REQUIRED,
      ...timeoutOf(config),
      ...defined({ resumeSchema }),
    });
    const approved = outcome === "granted";
    const decision = approved ? "granted" : "rejected";
    const outputs = {
      ...askedFor(value, resumeSchema),
      decision,
      outcome: decision,
      action: approved ? "accept" : "reject",
      approved,
      ...defined({ reason, decidedBy: by }),
    };
    return { type: "completed", outputs, ...(approved ? {} : { verdict: "rejected" as const }) };
  },
};

/**
 * The members of the last vote that the author's schema names. Edges depend on the outputs, so any other member with the name of a port would
 * let the last voter choose between edges.
 */
function askedFor(value: unknown, resumeSchema: Config["resumeSchema"]): Readonly<Record<string, unknown>> {
  const named = resumeSchema?.["properties"];
  if (typeof named !== "object" || named === null || typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(named, name)));
}

/** Inputs name the evaluation and the agent version, which may differ between runs. The required result does not. */
function evidenceNamed({ requiredEval }: Config, inputs: Readonly<Record<string, unknown>>) {
  if (requiredEval === undefined) return {};
  const { evalRunId, agentVersion } = inputs;
  const named = defined({ evalRunId, agentVersion });
  return matches(NamedEvidence, named) ? { evidence: named } : {};
}

function problemWith(config: Readonly<Record<string, unknown>>, ports: Ports): string | undefined {
  const { requiredRole, requiredScope, overrideBypassesQuorum, override, resumeSchema, requiredEval } =
    config as Config;
  if (requiredRole === undefined && requiredScope === undefined) return "needs requiredRole or requiredScope";
  if (overrideBypassesQuorum === true && override === undefined) {
    return "sets overrideBypassesQuorum without an override";
  }
  const vague = requiredEval === undefined ? undefined : vagueEvidence(requiredEval);
  if (vague !== undefined) return `has a requiredEval that ${vague}`;
  if (config["evidence"] !== undefined) return "has evidence outside requiredEval; write requiredEval.evidence";
  if (resumeSchema !== undefined) registeredSchema(resumeSchema, "its resumeSchema");
  return misplaced(config, true) ?? inVain(ports, IN_CONFIG) ?? unknownMember(config, Config);
}
