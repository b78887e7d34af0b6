import { SafetyFinding } from "../agents/api.ts";
import { Count, closed, Name, Positive, Share, type Static, Type } from "../schema.ts";
import { EVAL_MODES, Expected, Fixtures } from "./eval-suite.ts";

const Failure = Type.Object({ code: Name, message: Type.String() }, closed);

/** One tool call of a trial. Texts are scrubbed of secrets, and cut at 20,000 characters. */
export const ToolCallBody = Type.Object(
  {
    tool: Name,
    arguments: Type.Optional(Type.Unknown({ description: "absent where an older version ran the evaluation" })),
    result: Type.Optional(Type.Unknown()),
    error: Type.Optional(Failure),
  },
  closed,
);
export type ToolCallBody = Static<typeof ToolCallBody>;

export const EvalTrialBody = Type.Object(
  {
    trial: Positive,
    mode: Type.Optional(
      Type.Enum([...EVAL_MODES], {
        description:
          "the mode of its pass; trials are counted in each mode. Absent where an older version ran the evaluation",
      }),
    ),
    invocationId: Name,
    passed: Type.Boolean(),
    score: Type.Optional(Share),
    error: Type.Optional(Failure),
    retries: Count,
    cached: Type.Boolean(),
    latencyMs: Count,
    costUsd: Type.Optional(Type.Number({ minimum: 0 })),
    output: Type.Optional(Type.Unknown({ description: "scrubbed, and cut at 20,000 characters" })),
    difference: Type.Optional(Type.Unknown({ description: "how the output differs from the expected one" })),
    reasoning: Type.Optional(
      Type.String({ description: "as much as `configurable.reasoningVerbosity` of the evaluation lets be kept" }),
    ),
    toolCalls: Type.Array(ToolCallBody, { description: "in the order of the calls" }),
    toolCallsLeftOut: Type.Optional(
      Type.Integer({ minimum: 1, description: "calls after those that are kept: 200, or 200,000 characters" }),
    ),
    criteria: Type.Optional(
      Type.Array(Type.Object({ criterion: Type.String(), met: Type.Boolean(), evidence: Type.String() }, closed), {
        description: "the judge's verdicts",
      }),
    ),
    findings: Type.Array(
      Type.Object({ ...SafetyFinding.properties, by: Name, note: Type.Optional(Type.String()) }, closed),
    ),
  },
  closed,
);
export type EvalTrialBody = Static<typeof EvalTrialBody>;

/** The question of one task of an evaluation, with the answer, the reasoning and the calls of each trial. */
export const EvalTaskBodies = Type.Object(
  {
    runId: Name,
    suiteId: Name,
    suiteVersion: Name,
    agentId: Name,
    resolvedAgentVersion: Name,
    taskId: Name,
    input: Type.Unknown(),
    expected: Expected,
    fixtures: Type.Optional(Fixtures),
    score: Share,
    passed: Type.Boolean(),
    bar: Share,
    trials: Type.Array(EvalTrialBody),
  },
  closed,
);
export type EvalTaskBodies = Static<typeof EvalTaskBodies>;

/** Where the bodies of a task are read, with scope `artifacts:read`. */
export function taskBodiesPath(runId: string, taskId: string): string {
  return `/v1/host/assay/evals/${encodeURIComponent(runId)}/tasks/${encodeURIComponent(taskId)}`;
}
