import { AGENT_OPERATIONS } from "./agents/operations.ts";
import { AUDIT_OPERATIONS } from "./audit/operations.ts";
import { AGENT_CONFORMANCE_OPERATIONS } from "./conformance/agent-operations.ts";
import { CONFORMANCE_OPERATIONS } from "./conformance/operations.ts";
import type { ErrorCode } from "./errors.ts";
import { JUDGE_OPERATIONS } from "./evals/judge-operations.ts";
import { EVAL_OPERATIONS } from "./evals/operations.ts";
import { SUITE_GROWTH_OPERATIONS } from "./evals/suite-growth-operations.ts";
import { SUITE_OPERATIONS } from "./evals/suite-operations.ts";
import { EVENTS } from "./events.ts";
import { EXTERNAL_EVENT_OPERATIONS } from "./gates/external-event-operations.ts";
import { INBOX_OPERATIONS } from "./gates/inbox-operations.ts";
import { GATE_OPERATIONS } from "./gates/operations.ts";
import { KEY_OPERATIONS } from "./identity/key-operations.ts";
import { ROLE_OPERATIONS } from "./identity/role-operations.ts";
import { ANNOTATION_OPERATIONS } from "./judgments/annotation-operations.ts";
import { FEEDBACK_OPERATIONS } from "./judgments/feedback-operations.ts";
import { JUDGMENT_FILE_OPERATIONS } from "./judgments/judgment-file-operations.ts";
import { BODY, KEYED, type Operation, PROTECTED } from "./operation.ts";
import { DEPLOYMENT_OPERATIONS } from "./promotion/operations.ts";
import { QUEUE_OPERATIONS } from "./queues/operations.ts";
import { REVIEW_OPERATIONS } from "./reviews/operations.ts";
import {
  BulkCancelRequest,
  BulkCancelResponse,
  CancelRunRequest,
  CancelRunResponse,
  CreateRunRequest,
  CreateRunResponse,
  EventListResponse,
  ListRunsResponse,
  ListWorkflowsResponse,
  PauseRunRequest,
  PauseRunResponse,
  PollResponse,
  RegisterWorkflowResponse,
  ResumeRunRequest,
  ResumeRunResponse,
} from "./runs/api.ts";
import { BUNDLE_OPERATIONS } from "./runs/bundle-operations.ts";
import { CANCEL_OPERATIONS } from "./runs/cancel-operations.ts";
import { DELETION_OPERATIONS } from "./runs/deletion-operations.ts";
import { FORK_OPERATIONS } from "./runs/fork-operations.ts";
import { RunStatusSchema } from "./runs/run-status.ts";
import { RunSnapshot } from "./runs/snapshot.ts";
import { RUN_FRAMES } from "./runs/stream-frames.ts";
import { closed, JsonObject, open, Type } from "./schema.ts";
import { SCHEMA_OPERATIONS } from "./schema-operations.ts";
import { TAPE_OPERATIONS } from "./tapes/operations.ts";
import { SIDECAR_OPERATIONS } from "./tapes/sidecar-operations.ts";
import { WEBHOOK_OPERATIONS } from "./webhooks/operations.ts";
import { WorkflowDefinition } from "./workflows/workflow.ts";

const Limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 200 }));
const Cursor = Type.Optional(Type.String({ minLength: 1, maxLength: 512 }));
const Instant = (description: string) => Type.String({ minLength: 20, maxLength: 40, description });

const OF_RUN: readonly ErrorCode[] = ["not_found", "engine_version_mismatch"];
const CHANGES_RUN: readonly ErrorCode[] = [...KEYED, ...BODY, ...OF_RUN, "run_version_conflict"];

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
  listWorkflows: {
    method: "GET",
    path: "/v1/workflows",
    tag: "workflows",
    summary: "The workflows this key can start.",
    access: "manifest:read",
    query: Type.Object({ limit: Limit, cursor: Cursor }, closed),
    success: { status: 200, schema: ListWorkflowsResponse },
    errors: [...PROTECTED, "validation_error"],
  },
  registerWorkflow: {
    method: "POST",
    path: "/v1/workflows",
    tag: "workflows",
    summary: "Register a definition for the caller's tenant. The newest definition of an id is the one that starts.",
    access: "workflows:write",
    body: WorkflowDefinition,
    idempotent: "one",
    success: { status: 201, schema: RegisterWorkflowResponse },
    errors: [...PROTECTED, ...KEYED, ...BODY, "capability_required"],
  },
  getWorkflow: {
    method: "GET",
    path: "/v1/workflows/{workflowId}",
    tag: "workflows",
    summary: "A definition, exactly as it was registered.",
    access: "manifest:read",
    success: { status: 200, schema: WorkflowDefinition },
    errors: [...PROTECTED, "not_found"],
  },
  createRun: {
    method: "POST",
    path: "/v1/runs",
    tag: "runs",
    summary: "Start a run. It is durable before the answer; execution follows.",
    access: "runs:create",
    body: CreateRunRequest,
    idempotent: "one",
    success: { status: 201, schema: CreateRunResponse },
    errors: [
      ...PROTECTED,
      ...KEYED,
      ...BODY,
      "tenant_mismatch",
      "webhook_url_rejected",
      "mock_provider_forbidden",
      "unsupported_mock_provider",
      "no_active_deployment",
      "force_engine_version_forbidden",
      "run_already_active",
      "tenant_run_limit",
      "capability_required",
      "capability_not_provided",
      "not_found",
      "judge_not_certified",
    ],
  },
  listRuns: {
    method: "GET",
    path: "/v1/runs",
    tag: "runs",
    summary: "The caller's runs, newest first.",
    access: "runs:read",
    query: Type.Object(
      {
        limit: Limit,
        cursor: Cursor,
        workflowId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
        status: Type.Optional(RunStatusSchema),
        agentId: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 256,
            description: "named by the run's metadata, or called by the host",
          }),
        ),
        tag: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
        from: Type.Optional(Instant("an instant; runs created then or later")),
        to: Type.Optional(Instant("an instant; runs created before")),
      },
      closed,
    ),
    success: { status: 200, schema: ListRunsResponse },
    errors: [...PROTECTED, "validation_error"],
  },
  bulkCancelRuns: {
    method: "POST",
    path: "/v1/runs:bulk-cancel",
    tag: "runs",
    summary: "Cancel up to 100 runs; one result per id, in order.",
    access: "runs:cancel",
    body: BulkCancelRequest,
    idempotent: "many",
    success: { status: 200, schema: BulkCancelResponse },
    errors: [...PROTECTED, ...KEYED, ...BODY],
  },
  getRun: {
    method: "GET",
    path: "/v1/runs/{runId}",
    tag: "runs",
    summary: "A run as it is now. Carries an ETag; If-None-Match gives 304.",
    access: "runs:read",
    success: { status: 200, schema: RunSnapshot },
    errors: [...PROTECTED, ...OF_RUN],
  },
  cancelRun: {
    method: "POST",
    path: "/v1/runs/{runId}/cancel",
    tag: "runs",
    summary: "Cancel a run. On a run that has ended it changes nothing and answers with what is.",
    access: "runs:cancel",
    body: CancelRunRequest,
    idempotent: "one",
    success: { status: 200, schema: CancelRunResponse },
    errors: [...PROTECTED, ...CHANGES_RUN],
  },
  pauseRun: {
    method: "POST",
    path: "/v1/runs/{runId}:pause",
    tag: "runs",
    summary: "Stop a run between nodes, after the current node or at once.",
    access: "runs:cancel",
    gate: { capability: "pauseResume", off: "not_found" },
    body: PauseRunRequest,
    idempotent: "one",
    success: { status: 202, schema: PauseRunResponse },
    errors: [...PROTECTED, ...CHANGES_RUN, "run_terminal", "run_state_conflict"],
  },
  resumeRun: {
    method: "POST",
    path: "/v1/runs/{runId}:resume",
    tag: "runs",
    summary: "Resume a paused run.",
    access: "runs:cancel",
    gate: { capability: "pauseResume", off: "not_found" },
    body: ResumeRunRequest,
    idempotent: "one",
    success: { status: 202, schema: ResumeRunResponse },
    errors: [...PROTECTED, ...CHANGES_RUN, "run_terminal", "run_state_conflict"],
  },
  streamEvents: {
    method: "GET",
    path: "/v1/runs/{runId}/events",
    tag: "events",
    summary: "Follow a run as server-sent events; the backlog first. With Accept: application/json, the log so far.",
    access: "runs:read",
    query: Type.Object(
      {
        streamMode: Type.Optional(Type.String({ maxLength: 128 })),
        bufferMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 5000 })),
      },
      open,
    ),
    success: {
      status: 200,
      schema: EventListResponse,
      contentType: "text/event-stream",
      frames: RUN_FRAMES,
      events: EVENTS,
    },
    errors: [...PROTECTED, ...OF_RUN, "validation_error", "unsupported_stream_mode"],
  },
  pollEvents: {
    method: "GET",
    path: "/v1/runs/{runId}/events/poll",
    tag: "events",
    summary: "Events after a sequence; waits up to timeout seconds when there are none yet.",
    access: "runs:read",
    query: Type.Object(
      {
        lastSequence: Type.Optional(Type.Integer({ minimum: -1 })),
        since: Type.Optional(Type.Integer({ minimum: -1 })),
        timeout: Type.Optional(Type.Integer({ minimum: 1, maximum: 60 })),
      },
      open,
    ),
    success: { status: 200, schema: PollResponse },
    errors: [...PROTECTED, ...OF_RUN, "validation_error"],
  },
  getArtifact: {
    method: "GET",
    path: "/v1/runs/{runId}/artifacts/{artifactId}",
    tag: "artifacts",
    summary: "The content of an artifact a run made.",
    access: "artifacts:read",
    success: { status: 200, contentType: "*/*" },
    errors: [...PROTECTED, ...OF_RUN],
  },
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
