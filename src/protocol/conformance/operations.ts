import { EVAL_MODES } from "../evals/eval-suite.ts";
import { type Operation, PROTECTED } from "../operation.ts";
import { EventListResponse } from "../runs/api.ts";
import { Span } from "../runs/bundle-api.ts";
import { RunSnapshot } from "../runs/snapshot.ts";
import { JsonObject, open, Type } from "../schema.ts";

const ShortText = Type.String({ maxLength: 256 });

/** Routes that exist for conformance suites only, with `--conformance-seams`. They drive the production code. */
export const CONFORMANCE_OPERATIONS = {
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
  seamListSpans: {
    method: "GET",
    path: "/v1/host/sample/test/otel/spans",
    tag: "conformance seams",
    summary: "The spans of a run of the caller's tenant, as its debug bundle has them; none for an unknown id.",
    access: "runs:read",
    gate: { capability: "conformanceSeams", off: "not_found" },
    query: Type.Object({ runId: Type.String({ minLength: 1, maxLength: 256 }) }, open),
    success: { status: 200, schema: Type.Object({ spans: Type.Array(Span) }, { additionalProperties: false }) },
    errors: [...PROTECTED, "validation_error"],
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
  seamApprovalGate: {
    method: "POST",
    path: "/v1/host/sample/governance/approval-gate",
    tag: "conformance seams",
    summary: "Decides a governed gate of a fresh run as the named principal, and returns the outcome.",
    access: "approvals:respond",
    gate: { capability: "conformanceSeams", off: "not_found" },
    body: Type.Object(
      {
        scenario: Type.Enum(["unauthorized-grant", "grant", "reject", "override", "quorum"]),
        principal: Type.String({ minLength: 1, maxLength: 256 }),
        reason: Type.Optional(Type.String({ maxLength: 512 })),
      },
      open,
    ),
    success: { status: 200, schema: Type.Object({ released: Type.Boolean() }, open) },
    errors: [...PROTECTED, "validation_error", "INVALID_RESUME_VALUE"],
  },
  seamEvalRun: {
    method: "POST",
    path: "/v1/host/sample/agents/eval-run",
    tag: "conformance seams",
    summary: "Evaluates an agent with a suite made for the purpose, and waits for the end.",
    access: "runs:create",
    gate: { capability: "conformanceSeams", off: "not_found" },
    body: Type.Object(
      {
        agentId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
        modes: Type.Optional(Type.Array(Type.Enum([...EVAL_MODES]), { minItems: 1 })),
        taskCount: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      },
      open,
    ),
    success: { status: 200, schema: Type.Object({ runId: Type.String() }, open) },
    errors: [...PROTECTED, "validation_error", "capability_not_provided", "not_found"],
  },
  seamDeploymentTransition: {
    method: "POST",
    path: "/v1/host/sample/agents/deployment-transition",
    tag: "conformance seams",
    summary: "Deploys an agent, or fails to, and returns the outcome.",
    access: "deploy:promote",
    gate: { capability: "conformanceSeams", off: "not_found" },
    body: Type.Object(
      {
        scenario: Type.Enum(["promote", "unauthorized", "eval-gate-unmet", "channel-pin"]),
        agentId: Type.Optional(Type.String({ minLength: 3, maxLength: 256 })),
        version: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
        channel: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
        evalRunId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
        tenantId: Type.Optional(ShortText),
        workspace: Type.Optional(ShortText),
        workspaceId: Type.Optional(ShortText),
      },
      open,
    ),
    success: { status: 200, schema: JsonObject },
    errors: [...PROTECTED, "validation_error", "not_found", "no_active_deployment", "tenant_mismatch"],
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
