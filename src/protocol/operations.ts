import {
  BulkCancelRequest,
  BulkCancelResponse,
  CancelRunRequest,
  CancelRunResponse,
  CreateKeyRequest,
  CreateKeyResponse,
  CreateRunRequest,
  CreateRunResponse,
  EventListResponse,
  KeyInfo,
  ListKeysResponse,
  ListRunsResponse,
  ListWorkflowsResponse,
  PauseRunRequest,
  PauseRunResponse,
  PollResponse,
  RegisterWorkflowResponse,
  ResumeRunRequest,
  ResumeRunResponse,
  WhoAmIResponse,
} from "./api.ts";
import { AuditCheckpoint, AuditEntry, AuditVerifyResult } from "./audit.ts";
import type { ErrorCode } from "./errors.ts";
import { RunStatusSchema } from "./run-status.ts";
import { type TSchema, Type } from "./schema.ts";
import type { Scope } from "./scopes.ts";
import { RunSnapshot } from "./snapshot.ts";
import { WorkflowDefinition } from "./workflow.ts";

/**
 * Every route the host serves: one table for routing, validation, authorisation, OpenAPI and the SDK.
 * `{name}` is a path parameter; a `:verb` belongs to the segment before it.
 */
export interface Operation {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** A scope; "authenticated" for any valid key; "public" for none. */
  readonly access: Scope | "authenticated" | "public";
  /** Served only when this capability is on; `off` is the answer otherwise, before scope and look-up. */
  readonly gate?: { readonly capability: Capability; readonly off: "not_found" | "capability_not_provided" };
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** Present on routes that change something: `Idempotency-Key` is honoured. `many` makes several commits. */
  readonly idempotent?: "one" | "many";
  readonly success: { readonly status: number; readonly schema?: TSchema; readonly contentType?: string };
  readonly errors: readonly ErrorCode[];
}

/** What can be switched off by configuration, or is not built yet. Discovery and the gates read the same set. */
export const CAPABILITIES = ["pauseResume", "feedback", "auditLogIntegrity", "conformanceSeams"] as const;
export type Capability = (typeof CAPABILITIES)[number];

const closed = { additionalProperties: false } as const;
const open = { additionalProperties: true } as const;
const Limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 200 }));
const Cursor = Type.Optional(Type.String({ minLength: 1, maxLength: 512 }));
const ShortText = Type.String({ maxLength: 256 });
const JsonObject = Type.Record(Type.String(), Type.Unknown());

const AUTHENTICATED: readonly ErrorCode[] = [
  "unauthenticated",
  "key_expired",
  "key_revoked",
  "rate_limited",
  "unavailable",
];
const PROTECTED: readonly ErrorCode[] = [...AUTHENTICATED, "forbidden"];
const KEYED: readonly ErrorCode[] = ["validation_error", "idempotency_in_flight", "idempotency_key_mismatch"];
const BODY: readonly ErrorCode[] = ["validation_error", "payload_too_large", "unsupported_media_type"];
const OF_RUN: readonly ErrorCode[] = ["not_found", "engine_version_mismatch"];
const CHANGES_RUN: readonly ErrorCode[] = [...KEYED, ...BODY, ...OF_RUN, "run_version_conflict"];

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
      "mock_provider_forbidden",
      "force_engine_version_forbidden",
      "run_already_active",
      "capability_required",
      "capability_not_provided",
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
    summary: "Let a paused run go on.",
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
    success: { status: 200, schema: EventListResponse, contentType: "text/event-stream" },
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
  createAnnotation: {
    method: "POST",
    path: "/v1/runs/{runId}/annotations",
    tag: "annotations",
    summary: "Record a judgment on a run. Not served by this version.",
    access: "runs:annotate",
    gate: { capability: "feedback", off: "capability_not_provided" },
    success: { status: 201, schema: JsonObject },
    errors: [...PROTECTED, "capability_not_provided"],
  },
  listAnnotations: {
    method: "GET",
    path: "/v1/runs/{runId}/annotations",
    tag: "annotations",
    summary: "The judgments on a run. Not served by this version.",
    access: "runs:read",
    gate: { capability: "feedback", off: "capability_not_provided" },
    success: { status: 200, schema: JsonObject },
    errors: [...PROTECTED, "capability_not_provided"],
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
  verifyAudit: {
    method: "GET",
    path: "/v1/audit/verify",
    tag: "audit",
    summary: "Walk the tenant's audit chain and check its signed checkpoints.",
    access: "audit:read",
    gate: { capability: "auditLogIntegrity", off: "not_found" },
    query: Type.Object({ fromSeq: Type.Integer({ minimum: 0 }), toSeq: Type.Integer({ minimum: 0 }) }, closed),
    success: { status: 200, schema: AuditVerifyResult },
    errors: [...PROTECTED, "validation_error", "not_found"],
  },
  listAuditEntries: {
    method: "GET",
    path: "/v1/host/assay/audit/entries",
    tag: "audit",
    summary: "The tenant's audit entries and checkpoints, in order, for keeping a copy elsewhere.",
    access: "audit:read",
    gate: { capability: "auditLogIntegrity", off: "not_found" },
    query: Type.Object(
      {
        fromSeq: Type.Optional(Type.Integer({ minimum: 1 })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      },
      closed,
    ),
    success: {
      status: 200,
      schema: Type.Object(
        {
          entries: Type.Array(AuditEntry),
          checkpoints: Type.Array(AuditCheckpoint),
          publicKey: Type.String(),
          nextSeq: Type.Optional(Type.Integer()),
        },
        closed,
      ),
    },
    errors: [...PROTECTED, "validation_error"],
  },
  whoAmI: {
    method: "GET",
    path: "/v1/host/assay/whoami",
    tag: "keys",
    summary: "Who the API key speaks for, and what it may do.",
    access: "authenticated",
    success: { status: 200, schema: WhoAmIResponse },
    errors: [...AUTHENTICATED],
  },
  createKey: {
    method: "POST",
    path: "/v1/host/assay/keys",
    tag: "keys",
    summary: "Make an API key in the caller's tenant. The key is shown once.",
    access: "keys:manage",
    body: CreateKeyRequest,
    // A replayed answer would have to keep the key itself; so this route takes no Idempotency-Key.
    success: { status: 201, schema: CreateKeyResponse },
    errors: [...PROTECTED, ...BODY],
  },
  listKeys: {
    method: "GET",
    path: "/v1/host/assay/keys",
    tag: "keys",
    summary: "The tenant's API keys, without the keys themselves.",
    access: "keys:manage",
    success: { status: 200, schema: ListKeysResponse },
    errors: [...PROTECTED],
  },
  revokeKey: {
    method: "POST",
    path: "/v1/host/assay/keys/{keyId}:revoke",
    tag: "keys",
    summary: "End an API key now.",
    access: "keys:manage",
    idempotent: "one",
    success: { status: 200, schema: KeyInfo },
    errors: [...PROTECTED, ...KEYED, "not_found"],
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
  seamListEvents: {
    method: "GET",
    path: "/v1/host/sample/test/runs/{runId}/events",
    tag: "conformance seams",
    summary: "The raw event log of a run of the caller's tenant; empty for an unknown id.",
    access: "runs:read",
    gate: { capability: "conformanceSeams", off: "not_found" },
    query: Type.Object(
      {
        type: Type.Optional(Type.String()),
        nodeId: Type.Optional(Type.String()),
        correlationId: Type.Optional(Type.String()),
        causationId: Type.Optional(Type.String()),
      },
      open,
    ),
    success: { status: 200, schema: EventListResponse },
    errors: [...PROTECTED],
  },
  seamReset: {
    method: "POST",
    path: "/v1/host/sample/test/reset",
    tag: "conformance seams",
    summary: "Clears the state of the seams.",
    access: "authenticated",
    gate: { capability: "conformanceSeams", off: "not_found" },
    success: { status: 200, schema: JsonObject },
    errors: ["unauthenticated"],
  },
  seamDecide: {
    method: "POST",
    path: "/v1/host/sample/authorization/decide",
    tag: "conformance seams",
    summary: "Whether a principal of the caller's tenant may act; unknown principals and roles may not.",
    access: "authenticated",
    gate: { capability: "conformanceSeams", off: "not_found" },
    body: Type.Object({ principal: ShortText, action: ShortText, resource: Type.Optional(Type.String()) }, open),
    success: { status: 200, schema: Type.Object({ allowed: Type.Boolean() }, open) },
    errors: ["unauthenticated", "validation_error"],
  },
  seamOwnedRun: {
    method: "GET",
    path: "/v1/host/sample/identity/owned-run",
    tag: "conformance seams",
    summary: "A snapshot of a run the caller owns, made if need be.",
    access: "runs:read",
    gate: { capability: "conformanceSeams", off: "not_found" },
    success: { status: 200, schema: RunSnapshot },
    errors: [...PROTECTED],
  },
  seamCrossWorkspaceRead: {
    method: "POST",
    path: "/v1/host/sample/identity/cross-workspace-read",
    tag: "conformance seams",
    summary: "Reads a run of one workspace as a principal of another; always refused.",
    access: "runs:read",
    gate: { capability: "conformanceSeams", off: "not_found" },
    success: { status: 200 },
    errors: [...PROTECTED, "not_found"],
  },
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof OPERATIONS;
