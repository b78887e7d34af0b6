import { MockAnswer } from "./mock-provider.ts";
import { type Operation, PROTECTED } from "./operation.ts";
import { Type } from "./schema.ts";

const open = { additionalProperties: true } as const;
const Name = Type.String({ minLength: 1, maxLength: 256 });
const Count = Type.Integer({ minimum: 0 });
const seam = {
  method: "POST",
  tag: "conformance seams",
  gate: { capability: "conformanceSeams", off: "not_found" },
} as const;
const agents = [...PROTECTED, "validation_error", "capability_required", "no_active_deployment"] as const;

/** Seams of agents: each makes a real run of the caller's tenant and tells what came of it. */
export const AGENT_SEAM_OPERATIONS = {
  seamLiveInvoke: {
    ...seam,
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
    ...seam,
    path: "/v1/host/sample/toolhooks/invoke",
    summary: "Has an agent ask for a tool, and tells whether it was called and what is recorded of that.",
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
    success: { status: 200, schema: Type.Object({ runId: Name, called: Type.Boolean(), status: Name }, open) },
    errors: agents,
  },
  seamMockAi: {
    ...seam,
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
    ...seam,
    path: "/v1/host/sample/test/emit-provider-usage",
    summary: "Makes a run in which a model is said to have used so much, and gives the event of it.",
    access: "runs:create",
    body: Type.Object(
      {
        provider: Type.Optional(Name),
        model: Type.Optional(Name),
        inputTokens: Type.Optional(Count),
        outputTokens: Type.Optional(Count),
      },
      open,
    ),
    success: { status: 200, schema: Type.Object({ runId: Name }, open) },
    errors: agents,
  },
  seamSurface: {
    ...seam,
    path: "/v1/host/sample/test/surface",
    summary: "Whether discovery advertises a capability.",
    access: "authenticated",
    body: Type.Object({ surface: Name }, open),
    success: { status: 200, schema: Type.Object({ surface: Name, supported: Type.Boolean() }, open) },
    errors: ["unauthenticated", "validation_error"],
  },
  seamCacheKey: {
    ...seam,
    path: "/v1/host/sample/test/llm-cache-key",
    summary: "A key that is the same for requests that mean the same, and tells nothing of them.",
    access: "authenticated",
    body: Type.Object({ model: Type.String({ minLength: 1, maxLength: 256 }) }, open),
    success: { status: 200, schema: Type.Object({ cacheKey: Name }, open) },
    errors: ["unauthenticated", "validation_error"],
  },
} as const satisfies Record<string, Operation>;
