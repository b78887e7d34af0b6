import { deletePolicy, getPolicy, listPolicies, putPolicy } from "../../agents/deployments/policies.ts";
import { RecentRefusals } from "../../agents/deployments/record-refusal.ts";
import { listDeployments } from "../../agents/deployments/stored-deployments.ts";
import { type DeploymentServices, transition } from "../../agents/deployments/transition.ts";
import { evidenceReader } from "../../evals/evidence/evidence-reader.ts";
import { evidenceSources } from "../../evals/evidence/evidence-sources.ts";
import { validationError } from "../../protocol/errors.ts";
import type { AgentDeployment } from "../../protocol/promotion/api.ts";
import type { DEPLOYMENT_OPERATIONS } from "../../protocol/promotion/operations.ts";
import type { HttpDeps } from "../pipeline/deps.ts";
import type { HandlersOf } from "../pipeline/handler.ts";
import { NO_CONTENT, ok } from "../pipeline/reply.ts";

export function deploymentServices({ host, evals, authorizer }: HttpDeps): DeploymentServices {
  return {
    agents: evals.agents,
    evidence: evidenceReader(host, evals.evidence ?? evidenceSources(host)),
    decide: authorizer.decide,
    refusals: new RecentRefusals(),
  };
}

export function deploymentRoutes(services: DeploymentServices): HandlersOf<typeof DEPLOYMENT_OPERATIONS> {
  const { agents, evidence } = services;
  return {
    listDeployments: async ({ host, caller, params }) =>
      ok(await listDeployments(host.store, agents, caller, params.agentId)),
    transitionDeployment: async (context) => {
      const { host, caller, params, body: request } = context;
      const command = { caller, agentId: params.agentId, request, record: context.recorder<AgentDeployment>(ok) };
      return ok((await transition(host, services, command)).deployment);
    },
    listPolicies: async ({ host, caller }) => ok(await listPolicies(host, caller)),
    getPolicy: async ({ host, caller, params }) => ok(await getPolicy(host, caller, params.subject)),
    putPolicy: async ({ host, caller, params: { subject }, body: rules, bodyText }) => {
      // A body that was lost on the way must not remove every rule.
      if (bodyText === "") throw validationError("there is no body; {} is a policy that asks for nothing");
      return ok(await putPolicy(host, evidence, { caller, subject, rules }));
    },
    deletePolicy: async ({ host, caller, params: { subject } }) => {
      await deletePolicy(host, { caller, subject });
      return NO_CONTENT;
    },
  };
}
