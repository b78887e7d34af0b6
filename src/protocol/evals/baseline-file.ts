import { Count, closed, Positive, Sha256, Share, ShortName, type Static, Type } from "../schema.ts";
import { BaselineName } from "./eval-baseline.ts";
import { EVAL_MODES, SuiteId } from "./eval-suite.ts";

export const BASELINE_FORMAT = "assay-eval-baseline";
export const BASELINE_FILE_VERSION = 2;

const Outcome = {
  score: Type.Union([Share, Type.Null({ description: "no trial could be scored" })]),
  passed: Type.Boolean(),
  trials: Type.Object({ scored: Count, passed: Count, errors: Count }, closed),
};

/** What a comparison needs to know of a task. */
export const BaselineTask = Type.Object(
  {
    taskId: ShortName,
    ...Outcome,
    passes: Type.Optional(
      Type.Array(Type.Object({ mode: Type.Enum([...EVAL_MODES]), ...Outcome }, closed), {
        description: "the task in each mode it was run in; absent in files of version 1: one pass for all modes",
      }),
    ),
  },
  closed,
);
export type BaselineTask = Static<typeof BaselineTask>;

/** A baseline that travels: figures only, no text of a task, an output or a rubric. */
export const BaselineFile = Type.Object(
  {
    format: Type.Literal(BASELINE_FORMAT),
    version: Type.Union([Type.Literal(1), Type.Literal(BASELINE_FILE_VERSION)]),
    name: BaselineName,
    suiteId: SuiteId,
    suiteVersion: ShortName,
    suiteSha256: Sha256,
    agentId: ShortName,
    resolvedAgentVersion: ShortName,
    runId: Type.String({
      minLength: 1,
      maxLength: 128,
      description: "the evaluation that was named, where it was made",
    }),
    trialsPerTask: Positive,
    aggregateScore: Share,
    passed: Type.Boolean({ description: "whether the bars of the suite were met" }),
    passedCount: Count,
    setBy: Type.String({ minLength: 1, maxLength: 256, description: "who named it" }),
    setAt: Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?Z$" }),
    tasks: Type.Array(BaselineTask, { minItems: 1 }),
    sha256: Type.String({
      pattern: "^[0-9a-f]{64}$",
      description: "of the canonical JSON (RFC 8785) of all other members",
    }),
  },
  closed,
);
export type BaselineFile = Static<typeof BaselineFile>;

export const KeptBaselineFile = Type.Object({ fileSha256: Sha256 }, closed);
export type KeptBaselineFile = Static<typeof KeptBaselineFile>;
