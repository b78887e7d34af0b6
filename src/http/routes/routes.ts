import type { ErrorDetails } from "../../protocol/errors.ts";
import type { OPERATIONS, OperationId } from "../../protocol/operations.ts";
import { MAX_BULK_RUN_IDS } from "../../protocol/runs/api.ts";
import { conformanceRoutes } from "../conformance/routes.ts";
import { documentRoutes } from "../documents/documents.ts";
import type { HttpDeps } from "../pipeline/deps.ts";
import type { Handler, HandlersOf } from "../pipeline/handler.ts";
import { agentRoutes } from "./agents.ts";
import { auditRoutes } from "./audit.ts";
import { evalRoutes } from "./evals.ts";
import { gateRoutes } from "./gates.ts";
import { IDENTITY_ROUTES } from "./identity.ts";
import { JUDGMENT_ROUTES } from "./judgments.ts";
import { deploymentRoutes, deploymentServices } from "./promotion.ts";
import { QUEUE_ROUTES } from "./queues.ts";
import { reviewRoutes } from "./reviews.ts";
import { runRoutes } from "./runs.ts";
import { suiteRoutes } from "./suites.ts";
import { tapeRoutes } from "./tapes.ts";
import { WEBHOOK_ROUTES } from "./webhooks.ts";
import { WORKFLOW_ROUTES } from "./workflows.ts";

/** The handler of every operation. */
export function handlers(deps: HttpDeps, getMetrics: Handler): HandlersOf<typeof OPERATIONS> {
  const { authorizer, evals, version } = deps;
  const { streamEvents, pollEvents, streamInbox, streamJudgments } = deps.events;
  const deployments = deploymentServices(deps);
  return {
    ...documentRoutes(deps),
    getMetrics,
    ...WORKFLOW_ROUTES,
    ...runRoutes({ authorizer, evals, version, publicUrl: deps.settings.publicUrl }),
    streamEvents,
    pollEvents,
    ...gateRoutes(authorizer),
    streamInbox,
    ...JUDGMENT_ROUTES,
    streamJudgments,
    ...QUEUE_ROUTES,
    ...tapeRoutes({ authorizer, version }),
    ...reviewRoutes(deps.reviews),
    ...agentRoutes(deps),
    ...deploymentRoutes(deployments),
    ...suiteRoutes(authorizer, evals),
    ...evalRoutes(authorizer, evals),
    ...WEBHOOK_ROUTES,
    ...IDENTITY_ROUTES,
    ...auditRoutes(deps.audit),
    ...conformanceRoutes(deps, deployments),
  };
}

/** Details that the protocol asks for in every refusal of a body. */
export const BODY_DETAILS: Partial<Record<OperationId, ErrorDetails>> = {
  bulkCancelRuns: { maxRunIds: MAX_BULK_RUN_IDS },
};
