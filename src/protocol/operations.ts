import { AGENT_OPERATIONS } from "./agents/operations.ts";
import { AUDIT_OPERATIONS } from "./audit/operations.ts";
import { AGENT_CONFORMANCE_OPERATIONS } from "./conformance/agent-operations.ts";
import { CONFORMANCE_OPERATIONS } from "./conformance/operations.ts";
import { JUDGE_OPERATIONS } from "./evals/judge-operations.ts";
import { EVAL_OPERATIONS } from "./evals/operations.ts";
import { SUITE_GROWTH_OPERATIONS } from "./evals/suite-growth-operations.ts";
import { SUITE_OPERATIONS } from "./evals/suite-operations.ts";
import { EXTERNAL_EVENT_OPERATIONS } from "./gates/external-event-operations.ts";
import { INBOX_OPERATIONS } from "./gates/inbox-operations.ts";
import { GATE_OPERATIONS } from "./gates/operations.ts";
import { KEY_OPERATIONS } from "./identity/key-operations.ts";
import { ROLE_OPERATIONS } from "./identity/role-operations.ts";
import { ANNOTATION_OPERATIONS } from "./judgments/annotation-operations.ts";
import { FEEDBACK_OPERATIONS } from "./judgments/feedback-operations.ts";
import { JUDGMENT_FILE_OPERATIONS } from "./judgments/judgment-file-operations.ts";
import { type Operation, PROTECTED } from "./operation.ts";
import { DEPLOYMENT_OPERATIONS } from "./promotion/operations.ts";
import { QUEUE_OPERATIONS } from "./queues/operations.ts";
import { REVIEW_OPERATIONS } from "./reviews/operations.ts";
import { BUNDLE_OPERATIONS } from "./runs/bundle-operations.ts";
import { CANCEL_OPERATIONS } from "./runs/cancel-operations.ts";
import { DELETION_OPERATIONS } from "./runs/deletion-operations.ts";
import { EVENT_OPERATIONS } from "./runs/event-operations.ts";
import { FORK_OPERATIONS } from "./runs/fork-operations.ts";
import { RUN_OPERATIONS } from "./runs/operations.ts";
import { JsonObject } from "./schema.ts";
import { SCHEMA_OPERATIONS } from "./schema-operations.ts";
import { TAPE_OPERATIONS } from "./tapes/operations.ts";
import { SIDECAR_OPERATIONS } from "./tapes/sidecar-operations.ts";
import { WEBHOOK_OPERATIONS } from "./webhooks/operations.ts";
import { WORKFLOW_OPERATIONS } from "./workflows/operations.ts";

/** Every route the host serves, in one table. */
export const OPERATIONS = {
  getDiscovery: {
    method: "GET",
    path: "/.well-known/openwop",
    tag: "discovery",
    summary: "What this host serves.",
    access: "public",
    success: { status: 200, schema: JsonObject },
    errors: ["unavailable"],
  },
  getOpenApi: {
    method: "GET",
    path: "/v1/openapi.json",
    tag: "discovery",
    summary: "This API as an OpenAPI 3.1 document.",
    access: "public",
    success: { status: 200, schema: JsonObject },
    errors: [],
  },
  getAsyncApi: {
    method: "GET",
    path: "/v1/asyncapi.json",
    tag: "discovery",
    summary: "The event streams as an AsyncAPI 3 document.",
    access: "public",
    success: { status: 200, schema: JsonObject },
    errors: [],
  },
  ...SCHEMA_OPERATIONS,
  ...WORKFLOW_OPERATIONS,
  ...RUN_OPERATIONS,
  ...EVENT_OPERATIONS,
  getMetrics: {
    method: "GET",
    path: "/v1/host/assay/metrics",
    tag: "operations",
    summary: "Prometheus metrics of this process.",
    access: "metrics:read",
    success: { status: 200, contentType: "text/plain; version=0.0.4" },
    errors: [...PROTECTED],
  },
  ...CANCEL_OPERATIONS,
  ...DELETION_OPERATIONS,
  ...ANNOTATION_OPERATIONS,
  ...FEEDBACK_OPERATIONS,
  ...JUDGMENT_FILE_OPERATIONS,
  ...SIDECAR_OPERATIONS,
  ...QUEUE_OPERATIONS,
  ...ROLE_OPERATIONS,
  ...AUDIT_OPERATIONS,
  ...KEY_OPERATIONS,
  ...GATE_OPERATIONS,
  ...FORK_OPERATIONS,
  ...BUNDLE_OPERATIONS,
  ...TAPE_OPERATIONS,
  ...REVIEW_OPERATIONS,
  ...AGENT_OPERATIONS,
  ...DEPLOYMENT_OPERATIONS,
  ...SUITE_OPERATIONS,
  ...SUITE_GROWTH_OPERATIONS,
  ...EVAL_OPERATIONS,
  ...JUDGE_OPERATIONS,
  ...EXTERNAL_EVENT_OPERATIONS,
  ...INBOX_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...CONFORMANCE_OPERATIONS,
  ...AGENT_CONFORMANCE_OPERATIONS,
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof OPERATIONS;
