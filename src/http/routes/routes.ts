import type { ErrorDetails } from "../../protocol/errors.ts";
import type { OperationId } from "../../protocol/operations.ts";
import { MAX_BULK_RUN_IDS } from "../../protocol/runs/api.ts";
import { agentSeamRoutes, seamResetRoute } from "../conformance/seam-agents.ts";
import { seamApprovalGateRoute } from "../conformance/seam-approval-gate.ts";
import { seamDeploymentRoute } from "../conformance/seam-deployment.ts";
import { seamEvalRunRoute } from "../conformance/seam-eval-run.ts";
import {
  seamCrossWorkspaceReadRoute,
  seamDecideRoute,
  seamListEventsRoute,
  seamListSpansRoute,
  seamOwnedRunRoute,
} from "../conformance/seams.ts";
import { discoveredOf, discoveryDocument } from "../documents/discovery.ts";
import { documentRoutes } from "../documents/documents.ts";
import type { HttpDeps } from "../pipeline/deps.ts";
import type { Handler } from "../pipeline/handler.ts";
import { agentRoutes } from "./agents.ts";
import {
  annotateRunRoute,
  closeFlagRoute,
  createAnnotationRoute,
  getAnnotationRoute,
  listAnnotationsRoute,
  retractAnnotationRoute,
} from "./annotations.ts";
import { getArtifactRoute } from "./artifacts.ts";
import { listAuditEntriesRoute, verifyAuditRoute } from "./audit.ts";
import { createRunRoute } from "./create-run.ts";
import { getDebugBundleRoute, seamExportBundleRoute } from "./debug-bundle.ts";
import { deleteRunRoute } from "./deletion.ts";
import { deploymentRoutes, deploymentServices } from "./deployments.ts";
import { evalRoutes } from "./evals.ts";
import { sendExternalEventRoute } from "./external-events.ts";
import { feedbackSummaryRoute } from "./feedback-summary.ts";
import { diffRunsRoute, forkRunRoute } from "./forks.ts";
import { gateSummaryRoute } from "./gate-summary.ts";
import { decideInboxRoute, listInboxRoute } from "./inbox.ts";
import {
  getInterruptByTokenRoute,
  readInterruptRoute,
  resolveInterruptByTokenRoute,
  resolveInterruptRoute,
} from "./interrupts.ts";
import { judgeRoutes } from "./judges.ts";
import { exportJudgmentsRoute, importJudgmentsRoute } from "./judgment-files.ts";
import { listJudgmentsRoute } from "./judgments.ts";
import { createKeyRoute, listKeysRoute, revokeKeyRoute, whoAmIRoute } from "./keys.ts";
import { QUEUE_ROUTES } from "./queues.ts";
import { reviewRoutes } from "./reviews.ts";
import {
  confirmPrincipalRoute,
  defineRoleRoute,
  listPrincipalsRoute,
  listRolesRoute,
  removeRoleRoute,
  setPrincipalRoute,
} from "./roles.ts";
import {
  bulkCancelRunsRoute,
  cancelRunRoute,
  cancelRunsRoute,
  getRunRoute,
  listRunsRoute,
  pauseRunRoute,
  resumeRunRoute,
} from "./runs.ts";
import { listPastRowsRoute, pullSidecarRoute, pushSidecarRoute } from "./sidecars.ts";
import { suiteGrowthRoutes } from "./suite-growth.ts";
import { SUITE_ROUTES } from "./suites.ts";
import { tapeRoutes } from "./tapes.ts";
import {
  deleteWebhookRoute,
  enableWebhookRoute,
  listDeliveriesRoute,
  listWebhooksRoute,
  redeliverRoute,
  registerWebhookRoute,
  testWebhookRoute,
} from "./webhooks.ts";
import { getWorkflowRoute, listWorkflowsRoute, registerWorkflowRoute } from "./workflows.ts";

/** The one place where an operation of the protocol meets the function that answers it. */
export function handlers(deps: HttpDeps, getMetrics: Handler): Readonly<Record<OperationId, Handler>> {
  const { audit, authorizer, evals, events, reviews, version } = deps;
  const deployments = deploymentServices(deps);
  return {
    ...documentRoutes(deps),
    listWorkflows: listWorkflowsRoute,
    registerWorkflow: registerWorkflowRoute,
    getWorkflow: getWorkflowRoute,
    createRun: createRunRoute(authorizer, evals, deps.settings.publicUrl),
    listRuns: listRunsRoute,
    bulkCancelRuns: bulkCancelRunsRoute,
    cancelRuns: cancelRunsRoute,
    getRun: getRunRoute(authorizer),
    cancelRun: cancelRunRoute,
    pauseRun: pauseRunRoute,
    resumeRun: resumeRunRoute,
    deleteRun: deleteRunRoute,
    forkRun: forkRunRoute,
    forkRunBecause: forkRunRoute,
    diffRuns: diffRunsRoute,
    getDebugBundle: getDebugBundleRoute(version),
    resolveInterrupt: resolveInterruptRoute,
    readInterrupt: readInterruptRoute,
    getInterruptByToken: getInterruptByTokenRoute,
    resolveInterruptByToken: resolveInterruptByTokenRoute,
    sendExternalEvent: sendExternalEventRoute,
    listInbox: listInboxRoute(authorizer),
    decideInbox: decideInboxRoute,
    streamInbox: events.streamInbox,
    getGateSummary: gateSummaryRoute,
    streamEvents: events.streamEvents,
    pollEvents: events.pollEvents,
    createAnnotation: createAnnotationRoute,
    listAnnotations: listAnnotationsRoute,
    annotateRun: annotateRunRoute,
    listJudgments: listJudgmentsRoute,
    streamJudgments: events.streamJudgments,
    getAnnotation: getAnnotationRoute,
    retractAnnotation: retractAnnotationRoute,
    closeFlag: closeFlagRoute,
    getFeedbackSummary: feedbackSummaryRoute,
    exportJudgments: exportJudgmentsRoute,
    importJudgments: importJudgmentsRoute,
    pushSidecar: pushSidecarRoute(authorizer),
    pullSidecar: pullSidecarRoute,
    listPastRows: listPastRowsRoute,
    ...QUEUE_ROUTES,
    ...tapeRoutes(version),
    ...reviewRoutes(reviews),
    ...agentRoutes(deps),
    ...SUITE_ROUTES,
    ...suiteGrowthRoutes(deps),
    ...deploymentRoutes(deployments),
    ...evalRoutes(authorizer),
    ...judgeRoutes(evals),
    getArtifact: getArtifactRoute,
    verifyAudit: verifyAuditRoute(audit),
    listAuditEntries: listAuditEntriesRoute(audit.verifier),
    whoAmI: whoAmIRoute,
    createKey: createKeyRoute,
    listKeys: listKeysRoute,
    revokeKey: revokeKeyRoute,
    listRoles: listRolesRoute,
    defineRole: defineRoleRoute,
    removeRole: removeRoleRoute,
    listPrincipals: listPrincipalsRoute,
    setPrincipal: setPrincipalRoute,
    confirmPrincipal: confirmPrincipalRoute,
    getMetrics,
    registerWebhook: registerWebhookRoute,
    deleteWebhook: deleteWebhookRoute,
    listWebhooks: listWebhooksRoute,
    listDeliveries: listDeliveriesRoute,
    redeliver: redeliverRoute,
    enableWebhook: enableWebhookRoute,
    testWebhook: testWebhookRoute,
    seamListEvents: seamListEventsRoute,
    seamListSpans: seamListSpansRoute,
    seamReset: seamResetRoute(deps.mocks),
    ...agentSeamRoutes(() => discoveryDocument(discoveredOf(deps)), authorizer, deps.mocks),
    seamDecide: seamDecideRoute(authorizer),
    seamApprovalGate: seamApprovalGateRoute,
    seamEvalRun: seamEvalRunRoute(evals),
    seamDeploymentTransition: seamDeploymentRoute(deployments),
    seamOwnedRun: seamOwnedRunRoute,
    seamCrossWorkspaceRead: seamCrossWorkspaceReadRoute,
    seamExportBundle: seamExportBundleRoute(version),
  };
}

/** What the protocol wants said with every refusal of a body. */
export const BODY_DETAILS: Partial<Record<OperationId, ErrorDetails>> = {
  bulkCancelRuns: { maxRunIds: MAX_BULK_RUN_IDS },
};
