import { type Operation, PROTECTED } from "../operation.ts";
import { MockAnswer } from "../runs/mock-provider.ts";
import { Count, open, Type } from "../schema.ts";

const Name = Type.String({ minLength: 1, maxLength: 256 });
const common = {
  method: "POST",
  tag: "conformance seams",
  gate: { capability: "conformanceSeams", off: "not_found" },
} as const;
const agents = [...PROTECTED, "validation_error", "capability_required", "no_active_deployment"] as const;

/** Conformance routes of agents: each makes a real run of the caller's tenant and returns its outcome. */
export const AGENT_CONFORMANCE_OPERATIONS = {
  seamLiveInvoke: {
    ...common,
    path: "/v1/host/sample/agents/live-invoke",
    summary: "Asks an agent in a run made for the purpose, and waits for the end.",
    access: "runs:create",
    body: Type.Object(
      {
        agentId: Type.Optional(Name),
        source: Type.Optional(Type.Enum(["workflow-node", "run-api"])),
        returnSchemaRef: Type.Optional(Type.Unknown()),
        forceInvalidResult: Type.Optional(Type.Boolean()),
        attemptTool: Type.Optional(Name),
      },
      open,
    ),
    success: {
      status: 200,
      schema: Type.Object({ runId: Name, invocationId: Name, outcome: Type.Optional(Name) }, open),
    },
    errors: agents,
  },
  seamToolHooks: {
    ...common,
    path: "/v1/host/sample/toolhooks/invoke",
    summary: "Has an agent ask for a tool, and returns what is recorded before and after the call, without content.",
    access: "runs:create",
    body: Type.Object(
      {
        agentId: Type.Optional(Name),
        toolName: Type.Optional(Name),
        toolId: Type.Optional(Name),
        tool: Type.Optional(Name),
        args: Type.Optional(Type.Unknown()),
        arguments: Type.Optional(Type.Unknown()),
      },
      open,
    ),
    success: {
      status: 200,
      schema: Type.Object(
        {
          runId: Name,
          called: Type.Boolean(),
          toolCalled: Type.Object({ argsHash: Name }, open),
          toolReturned: Type.Object({ status: Name }, open),
        },
        open,
      ),
    },
    errors: agents,
  },
  seamMockAi: {
    ...common,
    path: "/v1/host/sample/test/mock-ai/program",
    summary: "Stages what the mock provider answers next at a node, once each and in order.",
    access: "runs:create",
    body: Type.Object(
      {
        nodeId: Name,
        program: Type.Array(MockAnswer, { maxItems: 100 }),
      },
      open,
    ),
    success: { status: 200, schema: Type.Object({ nodeId: Name, staged: Count }, open) },
    errors: [...PROTECTED, "validation_error", "capability_not_provided"],
  },
  seamProviderUsage: {
    ...common,
    path: "/v1/host/sample/test/emit-provider-usage",
    summary: "Records provider usage as posted, under the named run or a new one of that id, and returns the event.",
    access: "runs:create",
    body: Type.Object(
      {
        runId: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$" })),
        payload: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      },
      open,
    ),
    success: { status: 200, schema: Type.Object({ runId: Name }, open) },
    errors: [
      ...PROTECTED,
      "validation_error",
      "provider_usage_credential_leak",
      "not_found",
      "run_state_conflict",
      "run_version_conflict",
      "engine_version_mismatch",
    ],
  },
  seamSurface: {
    ...common,
    path: "/v1/host/sample/test/surface",
    summary: "Whether a surface is served; with op, an operation on it: register, list or unregister webhooks.",
    access: "authenticated",
    body: Type.Object({ surface: Name, op: Type.Optional(Name) }, open),
    success: { status: 200, schema: Type.Object({ surface: Name }, open) },
    errors: [
      ...PROTECTED,
      "validation_error",
      "not_found",
      "webhook_url_rejected",
      "tenant_mismatch",
      "subscription_not_found",
    ],
  },
  seamCacheKey: {
    ...common,
    path: "/v1/host/sample/test/llm-cache-key",
    summary: "A key that is the same for requests that mean the same, and tells nothing of them.",
    access: "authenticated",
    body: Type.Object({ model: Type.String({ minLength: 1, maxLength: 256 }) }, open),
    success: { status: 200, schema: Type.Object({ cacheKey: Name }, open) },
    errors: ["unauthenticated", "validation_error"],
  },
} as const satisfies Record<string, Operation>;
