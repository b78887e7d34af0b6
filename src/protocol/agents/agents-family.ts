import { EVAL_MODES } from "../evals/eval-suite.ts";
import { DeploymentState } from "../promotion/events.ts";
import { Count, closed, Name, Positive, type Static, Type } from "../schema.ts";

const True = Type.Literal(true);

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
