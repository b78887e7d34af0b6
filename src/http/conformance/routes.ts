import type { DeploymentServices } from "../../agents/deployments/transition.ts";
import type { CONFORMANCE_OPERATIONS } from "../../protocol/conformance/operations.ts";
import { discoveredOf, discoveryDocument } from "../documents/discovery.ts";
import type { HttpDeps } from "../pipeline/deps.ts";
import type { HandlersOf } from "../pipeline/handler.ts";
import { agentConformanceRoutes } from "./agents.ts";
import { approvalGateRoute } from "./approval-gate.ts";
import { deploymentRoute } from "./deployment.ts";
import { evalRunRoute } from "./eval-run.ts";
import { providerUsageRoute } from "./provider-usage.ts";
import { runConformanceRoutes } from "./runs.ts";

/**
 * Routes that only conformance suites call. Each uses the functions of the real routes, as its caller; none can do more than that
 * caller may. (The route of the governed gate decides a gate of its own making as the principal that its body names.)
 */
export function conformanceRoutes(
  deps: HttpDeps,
  deployments: DeploymentServices,
): HandlersOf<typeof CONFORMANCE_OPERATIONS> {
  const discovery = () => discoveryDocument(discoveredOf(deps));
  return {
    ...runConformanceRoutes(deps),
    ...agentConformanceRoutes(discovery, deps.authorizer, deps.mocks),
    conformanceProviderUsage: providerUsageRoute,
    conformanceApprovalGate: approvalGateRoute,
    conformanceEvalRun: evalRunRoute(deps.evals),
    conformanceDeploymentTransition: deploymentRoute(deployments),
  };
}
