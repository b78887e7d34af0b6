import type { ErrorCode } from "../errors.ts";
import { BODY, KEYED, type Operation, PROTECTED } from "../operation.ts";
import { AgentDeployment, AgentDeployments, DeploymentTransition } from "./api.ts";
import { PromotionPolicies, PromotionPolicy, PromotionRules } from "./promotion-policy.ts";

const gate = { capability: "deployment", off: "not_found" } as const;
const tag = "deployments";
const READS: readonly ErrorCode[] = [...PROTECTED, "not_found"];
const POLICIES = "/v1/host/assay/promotion-policies";

/** Which version of an agent serves, and what it takes to change that. */
export const DEPLOYMENT_OPERATIONS = {
  listDeployments: {
    method: "GET",
    path: "/v1/agents/{agentId}/deployments",
    tag,
    summary: "What became of each installed version of an agent, the lowest first.",
    access: "manifest:read",
    gate,
    success: { status: 200, schema: AgentDeployments },
    errors: READS,
  },
  transitionDeployment: {
    method: "POST",
    path: "/v1/agents/{agentId}/deployments",
    tag,
    summary:
      "Promote, pause, deprecate or roll back a version, or change its share. Needs deploy:promote, deploy:rollback or deploy:pause, " +
      "the people the policy names, and the evaluation it asks for. A refusal lists every condition. While people are asked the answer " +
      "is run_state_conflict with the run and its gate; send the same request again when they have decided.",
    // Which scope it takes is in the body.
    access: "authenticated",
    gate,
    body: DeploymentTransition,
    idempotent: "one",
    success: { status: 200, schema: AgentDeployment },
    errors: [...READS, ...KEYED, ...BODY, ...(["run_state_conflict", "eval_gate_unmet", "document_conflict"] as const)],
  },
  listPolicies: {
    method: "GET",
    path: POLICIES,
    tag,
    summary: "The policies of transitions: of each agent that has one, and the default for all others.",
    access: "manifest:read",
    gate,
    success: { status: 200, schema: PromotionPolicies },
    errors: PROTECTED,
  },
  getPolicy: {
    method: "GET",
    path: `${POLICIES}/{subject}`,
    tag,
    summary: "The policy of an agent, or the default one.",
    access: "manifest:read",
    gate,
    success: { status: 200, schema: PromotionPolicy },
    errors: READS,
  },
  putPolicy: {
    method: "PUT",
    path: `${POLICIES}/{subject}`,
    tag,
    summary:
      "Set it. Roles and suites it names have to be there; approvals that were given under another one no longer count.",
    access: "deploy:policy",
    gate,
    body: PromotionRules,
    success: { status: 200, schema: PromotionPolicy },
    errors: [...READS, ...BODY, "document_conflict"],
  },
  deletePolicy: {
    method: "DELETE",
    path: `${POLICIES}/{subject}`,
    tag,
    summary: "Remove the policy. The agent is then under the default policy.",
    access: "deploy:policy",
    gate,
    success: { status: 204 },
    errors: [...READS, "document_conflict"],
  },
} as const satisfies Record<string, Operation>;
