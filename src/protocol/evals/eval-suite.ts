import { Count, closed, JsonObject, Name, Share, type Static, Type } from "../schema.ts";

/** The modes of an evaluation. */
export const EVAL_MODES = ["golden", "rubric", "adversarial", "regression", "live-shadow"] as const;
export type EvalMode = (typeof EVAL_MODES)[number];

export const MATCH_STRATEGIES = ["exact", "contains", "json-match"] as const;
export type MatchStrategy = (typeof MATCH_STRATEGIES)[number];

/** The needs that an agent's manifest may declare. */
export const MODEL_CLASSES = ["reasoning", "writing", "coding", "research", "classification", "general"] as const;
export type ModelClass = (typeof MODEL_CLASSES)[number];

export const NAME_LENGTH_MAX = 256;
export const SUITE_ID_PATTERN = "^[a-z0-9.-]+\\.evals\\.[a-z0-9-]+$";
export const SUITE_VERSION_PATTERN = "^[0-9]+\\.[0-9]+\\.[0-9]+$";
export const TASK_ID_PATTERN = "^[a-z0-9][a-z0-9-]*$";

export const SuiteId = Type.String({ pattern: SUITE_ID_PATTERN, maxLength: NAME_LENGTH_MAX });
export const SuiteVersion = Type.String({ pattern: SUITE_VERSION_PATTERN, maxLength: 64 });

export const GoldenMatch = Type.Object(
  {
    strategy: Type.Enum([...MATCH_STRATEGIES]),
    value: Type.Unknown({ description: "what is expected" }),
  },
  closed,
);
export type GoldenMatch = Static<typeof GoldenMatch>;

export const RubricCriterion = Type.Object({ criterion: Name, weight: Share }, closed);
export type RubricCriterion = Static<typeof RubricCriterion>;

/** Never both: it would be unclear which of the two counts. */
export const Expected = Type.Union([
  Type.Object({ kind: Type.Literal("golden"), match: GoldenMatch }, closed),
  Type.Object({ kind: Type.Literal("rubric"), rubric: Type.Array(RubricCriterion, { minItems: 1 }) }, closed),
]);
export type Expected = Static<typeof Expected>;

export const ToolResponse = Type.Object(
  {
    tool: Type.String({ minLength: 1, description: "as in the allow-list of the agent" }),
    response: Type.Optional(Type.Unknown()),
  },
  closed,
);
export type ToolResponse = Static<typeof ToolResponse>;

/** The substitutes for live tools and memory. */
export const Fixtures = Type.Object(
  {
    toolResponses: Type.Optional(Type.Array(ToolResponse)),
    memorySeed: Type.Optional(Type.Array(JsonObject)),
  },
  closed,
);
export type Fixtures = Static<typeof Fixtures>;

export const EvalTask = Type.Object(
  {
    taskId: Type.String({ pattern: TASK_ID_PATTERN, maxLength: NAME_LENGTH_MAX }),
    input: Type.Unknown(),
    expected: Expected,
    fixtures: Type.Optional(Fixtures),
  },
  closed,
);
export type EvalTask = Static<typeof EvalTask>;

export const SuiteThresholds = Type.Object(
  {
    passScore: Type.Optional(Share),
    maxCostUsd: Type.Optional(Type.Number({ minimum: 0 })),
    maxP95LatencyMs: Type.Optional(Count),
  },
  closed,
);
export type SuiteThresholds = Static<typeof SuiteThresholds>;

export const AgentEvalSuite = Type.Object(
  {
    suiteId: SuiteId,
    version: SuiteVersion,
    targetAgentId: Type.Optional(Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX })),
    modes: Type.Array(Type.Enum([...EVAL_MODES]), { minItems: 1, uniqueItems: true }),
    allowedModels: Type.Optional(Type.Array(Type.Enum([...MODEL_CLASSES]), { uniqueItems: true })),
    thresholds: Type.Optional(SuiteThresholds),
    tasks: Type.Array(EvalTask, { minItems: 1 }),
  },
  closed,
);
export type AgentEvalSuite = Static<typeof AgentEvalSuite>;
