import { operations } from "../operation.ts";
import {
  AgentDeployment,
  AgentDeployments,
  DeploymentTransition,
  PromotionPolicies,
  PromotionPolicy,
  PromotionRules,
} from "./api.ts";

const POLICIES = "/v1/host/assay/promotion-policies";

const common = { tag: "deployments", capability: "deployment" } as const;

/** Which version of an agent serves, and which conditions a change of it has to meet. */
export const DEPLOYMENT_OPERATIONS = operations(common, {
  listDeployments: {
    method: "GET",
    path: "/v1/agents/{agentId}/deployments",
    summary: "What became of each installed version of an agent, the lowest first.",
    access: "manifest:read",
    success: { status: 200, schema: AgentDeployments },
  },
  transitionDeployment: {
    method: "POST",
    path: "/v1/agents/{agentId}/deployments",
    summary:
      "Promote, pause, deprecate or roll back a version, or change its share. Needs deploy:promote, deploy:rollback or deploy:pause, " +
      "the people the policy names, and the evaluation it asks for. A refusal lists every condition. While people are asked the answer " +
      "is run_state_conflict with the run and its gate; send the same request again when they have decided.",
    // Which scope it takes is in the body.
    access: "authenticated",
    body: DeploymentTransition,
    idempotent: "one",
    success: { status: 200, schema: AgentDeployment },
    errors: ["forbidden", "run_state_conflict", "eval_gate_unmet", "document_conflict"],
  },
  listPolicies: {
    method: "GET",
    path: POLICIES,
    summary: "The policies of transitions: of each agent that has one, and the default for all others.",
    access: "manifest:read",
    success: { status: 200, schema: PromotionPolicies },
  },
  getPolicy: {
    method: "GET",
    path: `${POLICIES}/{subject}`,
    summary: "The policy of an agent, or the default one.",
    access: "manifest:read",
    success: { status: 200, schema: PromotionPolicy },
  },
  putPolicy: {
    method: "PUT",
    path: `${POLICIES}/{subject}`,
    summary:
      "Set it. Roles and suites it names have to be there; approvals that were given under another one no longer count.",
    access: "deploy:policy",
    body: PromotionRules,
    success: { status: 200, schema: PromotionPolicy },
    errors: ["document_conflict"],
  },
  deletePolicy: {
    method: "DELETE",
    path: `${POLICIES}/{subject}`,
    summary: "Remove the policy. The agent is then under the default policy.",
    access: "deploy:policy",
    success: { status: 204 },
    errors: ["document_conflict"],
  },
});
