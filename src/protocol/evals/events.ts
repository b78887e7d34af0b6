import { Count, closed, Name, Share, Type } from "../schema.ts";
import { EVAL_MODES } from "./eval-suite.ts";

/** Events of evaluations. No task, rubric, output or other text is ever in them. Part of the catalogue in `events.ts`. */
export const EVAL_EVENTS = {
  "eval.started": {
    tier: "updates",
    summary: "The evaluation begins: which suite, how many tasks, in which modes.",
    payload: Type.Object(
      {
        suiteId: Name,
        suiteVersion: Name,
        taskCount: Count,
        modes: Type.Array(Type.Enum([...EVAL_MODES]), { uniqueItems: true }),
        baselineRunId: Type.Optional(Name),
      },
      closed,
    ),
  },
  "eval.scored": {
    tier: "updates",
    summary: "One task has its score. Once for each task.",
    payload: Type.Object(
      {
        taskId: Name,
        score: Share,
        passed: Type.Boolean(),
        costUsd: Type.Optional(Type.Number({ minimum: 0 })),
        latencyMs: Type.Optional(Count),
        schemaValid: Type.Optional(Type.Boolean()),
        safetyFindingCount: Type.Optional(Count),
      },
      closed,
    ),
  },
  "eval.completed": {
    tier: "updates",
    summary: "All tasks have their score: the aggregate, and whether it meets the bar.",
    payload: Type.Object(
      {
        aggregateScore: Share,
        passed: Type.Boolean(),
        taskCount: Count,
        passedCount: Count,
        regressionVsBaseline: Type.Optional(Type.Number({ minimum: -1, maximum: 1 })),
      },
      closed,
    ),
  },
} as const;
