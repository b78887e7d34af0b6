import { EVAL_MODES } from "../evals/eval-suite.ts";
import { DeploymentState } from "../promotion/events.ts";
import { MOCK_PROVIDERS } from "../runs/mock-provider.ts";
import { Count, closed, Name, Positive, type Static, Type } from "../schema.ts";

const True = Type.Literal(true);

/** Families of discovery that come with agents. */
export const AGENT_SURFACES = {
  memory: Type.Optional(
    Type.Object(
      {
        supported: True,
        maxEntrySizeBytes: Positive,
        ttlSupported: True,
        attribution: Type.Object({ supported: True, emitsWriteEvents: True }, closed),
      },
      closed,
    ),
  ),
  providerUsage: Type.Optional(
    Type.Object({ supported: True, costEstimates: True, currency: Type.Literal("USD") }, closed),
  ),
  toolHooks: Type.Optional(
    Type.Object(
      {
        supported: True,
        prePostEvents: True,
        perToolAuthorization: Type.Literal(false),
        perToolRateLimit: Type.Literal(false),
      },
      closed,
    ),
  ),
  envelopes: Type.Optional(
    Type.Object(
      {
        reliability: Type.Object(
          {
            supported: True,
            events: Type.Array(Name),
            maxRetryAttempts: Type.Integer({ minimum: 1, maximum: 16 }),
            completion: Type.Object(
              { distinguishesTruncation: True, truncationBudgetMultiplier: Type.Number({ minimum: 1, maximum: 8 }) },
              closed,
            ),
          },
          closed,
        ),
      },
      closed,
    ),
  ),
  /** Of the conformance seams. */
  conformance: Type.Optional(Type.Object({ mockAgent: True }, closed)),
  testing: Type.Optional(Type.Object({ mockProviders: Type.Array(Type.Enum([...MOCK_PROVIDERS])) }, closed)),
};

const AgentSurfaces = Type.Object(AGENT_SURFACES, closed);
export type AgentSurfaces = Static<typeof AgentSurfaces>;

/** `agents` in discovery. The protocol leaves it open; here it is closed, as all of discovery is. */
export const AgentsFamily = Type.Object(
  {
    supported: Type.Optional(True),
    manifestRuntime: Type.Optional(
      Type.Object(
        { supported: True, handoffValidation: Type.Boolean(), installScope: Type.Enum(["host", "tenant"]) },
        closed,
      ),
    ),
    liveRuntime: Type.Optional(
      Type.Object(
        {
          supported: True,
          structuredOutput: Type.Boolean(),
          confidenceEscalation: Type.Boolean(),
          sources: Type.Array(Type.Enum(["workflow-node", "run-api", "chat-mention"])),
        },
        closed,
      ),
    ),
    memoryBackends: Type.Optional(Type.Array(Type.Literal("long-term"))),
    reasoning: Type.Optional(
      Type.Object({ verbosity: Type.Literal("full"), tokenLimit: Count, streaming: True }, closed),
    ),
    evalSuite: Type.Optional(
      Type.Object(
        {
          supported: True,
          modes: Type.Array(Type.Enum([...EVAL_MODES]), { uniqueItems: true }),
          maxTasksPerSuite: Positive,
          maxCostUsdPerSuite: Type.Optional(Type.Number({ minimum: 0 })),
        },
        closed,
      ),
    ),
    deployment: Type.Optional(
      Type.Object(
        {
          supported: True,
          channels: Type.Array(Name),
          canary: True,
          rollback: True,
          states: Type.Array(DeploymentState),
        },
        closed,
      ),
    ),
    orchestrator: Type.Optional(True),
    dispatch: Type.Optional(True),
    dispatchMapping: Type.Optional(True),
  },
  closed,
);
export type AgentsFamily = Static<typeof AgentsFamily>;
