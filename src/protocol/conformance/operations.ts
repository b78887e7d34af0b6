import { EVAL_MODES } from "../evals/eval-suite.ts";
import { operations } from "../operation.ts";
import { EventListResponse } from "../runs/api.ts";
import { DebugBundle, ExportBundleRequest, Span } from "../runs/bundle-api.ts";
import { MockAnswer } from "../runs/mock-provider.ts";
import { RunSnapshot } from "../runs/snapshot.ts";
import { Count, closed, JsonObject, open, ShortName, Type } from "../schema.ts";

const ShortText = Type.String({ maxLength: 256 });

const common = { tag: "conformance seams", capability: "conformanceSeams" } as const;

/** Routes for conformance suites only, served with `--conformance-seams`. They drive the production code. */
export const CONFORMANCE_OPERATIONS = operations(common, {
  conformanceListEvents: {
    method: "GET",
    path: "/v1/host/sample/test/runs/{runId}/events",
    summary: "The raw event log of a run of the caller's tenant; empty for an unknown id.",
    access: "runs:read",
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
  },
  conformanceListSpans: {
    method: "GET",
    path: "/v1/host/sample/test/otel/spans",
    summary: "The spans of a run of the caller's tenant, as its debug bundle has them; none for an unknown id.",
    access: "runs:read",
    query: Type.Object({ runId: ShortName }, open),
    success: { status: 200, schema: Type.Object({ spans: Type.Array(Span) }, closed) },
  },
  conformanceReset: {
    method: "POST",
    path: "/v1/host/sample/test/reset",
    summary: "Clears the state of the seams.",
    access: "authenticated",
    success: { status: 200, schema: JsonObject },
  },
  conformanceDecide: {
    method: "POST",
    path: "/v1/host/sample/authorization/decide",
    summary: "Whether a principal of the caller's tenant may act; unknown principals and roles may not.",
    access: "authenticated",
    body: Type.Object({ principal: ShortText, action: ShortText, resource: Type.Optional(Type.String()) }, open),
    success: { status: 200, schema: Type.Object({ allowed: Type.Boolean() }, open) },
  },
  conformanceApprovalGate: {
    method: "POST",
    path: "/v1/host/sample/governance/approval-gate",
    summary: "Decides a governed gate of a fresh run as the named principal, and returns the outcome.",
    access: "approvals:respond",
    body: Type.Object(
      {
        scenario: Type.Enum(["unauthorized-grant", "grant", "reject", "override", "quorum"]),
        principal: ShortName,
        reason: Type.Optional(Type.String({ maxLength: 512 })),
      },
      open,
    ),
    success: { status: 200, schema: Type.Object({ released: Type.Boolean() }, open) },
    errors: ["INVALID_RESUME_VALUE"],
  },
  conformanceEvalRun: {
    method: "POST",
    path: "/v1/host/sample/agents/eval-run",
    summary: "Evaluates an agent with a suite made for the purpose, and waits for the end.",
    access: "runs:create",
    body: Type.Object(
      {
        agentId: Type.Optional(ShortName),
        modes: Type.Optional(Type.Array(Type.Enum([...EVAL_MODES]), { minItems: 1 })),
        taskCount: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      },
      open,
    ),
    success: { status: 200, schema: Type.Object({ runId: Type.String() }, open) },
    errors: ["capability_not_provided"],
  },
  conformanceDeploymentTransition: {
    method: "POST",
    path: "/v1/host/sample/agents/deployment-transition",
    summary: "Deploys an agent, or fails to, and returns the outcome.",
    access: "deploy:promote",
    body: Type.Object(
      {
        scenario: Type.Enum(["promote", "unauthorized", "eval-gate-unmet", "channel-pin"]),
        agentId: Type.Optional(Type.String({ minLength: 3, maxLength: 256 })),
        version: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
        channel: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
        evalRunId: Type.Optional(ShortName),
        tenantId: Type.Optional(ShortText),
        workspace: Type.Optional(ShortText),
        workspaceId: Type.Optional(ShortText),
      },
      open,
    ),
    success: { status: 200, schema: JsonObject },
    errors: ["no_active_deployment", "tenant_mismatch"],
  },
  conformanceOwnedRun: {
    method: "GET",
    path: "/v1/host/sample/identity/owned-run",
    summary: "A snapshot of a run the caller owns, made if need be.",
    access: "runs:read",
    success: { status: 200, schema: RunSnapshot },
  },
  conformanceCrossWorkspaceRead: {
    method: "POST",
    path: "/v1/host/sample/identity/cross-workspace-read",
    summary: "Reads a run of one workspace as a principal of another; always refused.",
    access: "runs:read",
    success: { status: 200 },
  },
  conformanceLiveInvoke: {
    method: "POST",
    path: "/v1/host/sample/agents/live-invoke",
    summary: "Asks an agent in a run made for the purpose, and waits for the end.",
    access: "runs:create",
    body: Type.Object(
      {
        agentId: Type.Optional(ShortName),
        source: Type.Optional(Type.Enum(["workflow-node", "run-api"])),
        returnSchemaRef: Type.Optional(Type.Unknown()),
        forceInvalidResult: Type.Optional(Type.Boolean()),
        attemptTool: Type.Optional(ShortName),
      },
      open,
    ),
    success: {
      status: 200,
      schema: Type.Object({ runId: ShortName, invocationId: ShortName, outcome: Type.Optional(ShortName) }, open),
    },
    errors: ["capability_required", "no_active_deployment"],
  },
  conformanceToolHooks: {
    method: "POST",
    path: "/v1/host/sample/toolhooks/invoke",
    summary: "Has an agent ask for a tool, and returns what is recorded before and after the call, without content.",
    access: "runs:create",
    body: Type.Object(
      {
        agentId: Type.Optional(ShortName),
        toolName: Type.Optional(ShortName),
        toolId: Type.Optional(ShortName),
        tool: Type.Optional(ShortName),
        args: Type.Optional(Type.Unknown()),
        arguments: Type.Optional(Type.Unknown()),
      },
      open,
    ),
    success: {
      status: 200,
      schema: Type.Object(
        {
          runId: ShortName,
          called: Type.Boolean(),
          toolCalled: Type.Object({ argsHash: ShortName }, open),
          toolReturned: Type.Object({ status: ShortName }, open),
        },
        open,
      ),
    },
    errors: ["capability_required", "no_active_deployment"],
  },
  conformanceMockAi: {
    method: "POST",
    path: "/v1/host/sample/test/mock-ai/program",
    summary: "Stages what the mock provider answers next at a node, once each and in order.",
    access: "runs:create",
    body: Type.Object(
      {
        nodeId: ShortName,
        program: Type.Array(MockAnswer, { maxItems: 100 }),
      },
      open,
    ),
    success: { status: 200, schema: Type.Object({ nodeId: ShortName, staged: Count }, open) },
    errors: ["capability_not_provided"],
  },
  conformanceProviderUsage: {
    method: "POST",
    path: "/v1/host/sample/test/emit-provider-usage",
    summary: "Records provider usage as posted, under the named run or a new one of that id, and returns the event.",
    access: "runs:create",
    body: Type.Object(
      {
        runId: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$" })),
        payload: Type.Optional(JsonObject),
      },
      open,
    ),
    success: { status: 200, schema: Type.Object({ runId: ShortName }, open) },
    errors: ["provider_usage_credential_leak", "run_state_conflict", "run_version_conflict", "engine_version_mismatch"],
  },
  conformanceSurface: {
    method: "POST",
    path: "/v1/host/sample/test/surface",
    summary: "Whether a surface is served; with op, an operation on it: register, list or unregister webhooks.",
    access: "authenticated",
    body: Type.Object({ surface: ShortName, op: Type.Optional(ShortName) }, open),
    success: { status: 200, schema: Type.Object({ surface: ShortName }, open) },
    errors: ["forbidden", "webhook_url_rejected", "tenant_mismatch", "subscription_not_found"],
  },
  conformanceCacheKey: {
    method: "POST",
    path: "/v1/host/sample/test/llm-cache-key",
    summary: "A key that is the same for requests that mean the same, and tells nothing of them.",
    access: "authenticated",
    body: Type.Object({ model: ShortName }, open),
    success: { status: 200, schema: Type.Object({ cacheKey: ShortName }, open) },
  },
  conformanceExportBundle: {
    method: "POST",
    path: "/v1/host/sample/test/debug-bundle/export",
    summary: "The debug bundle of a run of the caller's tenant.",
    access: "runs:read",
    body: ExportBundleRequest,
    success: { status: 200, schema: DebugBundle },
  },
});
