import { MOCK_PROVIDERS } from "../runs/mock-provider.ts";
import { closed, Name, Positive, type Static, Type } from "../schema.ts";

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
