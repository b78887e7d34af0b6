import { deletePolicy, getPolicy, listPolicies, putPolicy } from "../../agents/deployments/policies.ts";
import { RecentRefusals } from "../../agents/deployments/record-refusal.ts";
import { listDeployments } from "../../agents/deployments/stored-deployments.ts";
import { type DeploymentServices, transition } from "../../agents/deployments/transition.ts";
import { evidenceReader } from "../../evals/evidence/evidence-reader.ts";
import { evidenceSources } from "../../evals/evidence/evidence-sources.ts";
import { AppError } from "../../protocol/errors.ts";
import type { AgentDeployment, DeploymentTransition } from "../../protocol/promotion/api.ts";
import type { DEPLOYMENT_OPERATIONS } from "../../protocol/promotion/operations.ts";
import type { PromotionRules } from "../../protocol/promotion/promotion-policy.ts";
import type { HttpDeps } from "../pipeline/deps.ts";
import { callerOf, type Handler, type Reply, type RequestContext } from "../pipeline/handler.ts";

export function deploymentServices({ host, evals, authorizer }: HttpDeps): DeploymentServices {
  return {
    agents: evals.agents,
    evidence: evidenceReader(host, evals.evidence ?? evidenceSources(host)),
    decide: authorizer.decide,
    refusals: new RecentRefusals(),
  };
}

export function deploymentRoutes(
  services: DeploymentServices,
): Readonly<Record<keyof typeof DEPLOYMENT_OPERATIONS, Handler>> {
  const { agents, evidence } = services;
  const named = ({ params }: RequestContext) => params["agentId"] ?? "";
  const subjectOf = ({ params }: RequestContext) => params["subject"] ?? "";
  return {
    listDeployments: async (context) => {
      const json = await listDeployments(context.host.store, agents, callerOf(context), named(context));
      return { status: 200, json };
    },
    transitionDeployment: async (context) => {
      const done = await transition(context.host, services, {
        caller: callerOf(context),
        agentId: named(context),
        request: context.body as DeploymentTransition,
        record: context.recorder(deployed),
      });
      return deployed(done.deployment);
    },
    listPolicies: async (context) => ({ status: 200, json: await listPolicies(context.host, callerOf(context)) }),
    getPolicy: async (context) => {
      return { status: 200, json: await getPolicy(context.host, callerOf(context), subjectOf(context)) };
    },
    putPolicy: async (context) => {
      // A body that got lost on the way must not do away with every rule.
      if (context.bodyText === "") {
        throw new AppError("validation_error", { problem: "there is no body; {} is a policy that asks for nothing" });
      }
      const rules = context.body as PromotionRules;
      const command = { caller: callerOf(context), subject: subjectOf(context), rules };
      return { status: 200, json: await putPolicy(context.host, evidence, command) };
    },
    deletePolicy: async (context) => {
      await deletePolicy(context.host, { caller: callerOf(context), subject: subjectOf(context) });
      return { status: 204, raw: null };
    },
  };
}

function deployed(json: AgentDeployment): Reply {
  return { status: 200, json };
}
