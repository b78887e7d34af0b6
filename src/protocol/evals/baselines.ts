import { RunStatusSchema } from "../runs/run-status.ts";
import {
  Count,
  closed,
  Limit,
  Name,
  Positive,
  pageOf,
  Sha256,
  Share,
  ShortName,
  type Static,
  Type,
} from "../schema.ts";
import { EVAL_MODES, SuiteId } from "./eval-suite.ts";

const Cursor = Type.Optional(Type.String({ minLength: 1, maxLength: 1024 }));

/** A baseline has a name within its suite. None looks like the id of a run, so that either may be asked for. */
export const BaselineName = Type.String({ pattern: "^(?!run-)[A-Za-z0-9][A-Za-z0-9._-]{0,99}$" });

/** Claims of an imported baseline file, which this host cannot verify. */
export const ImportedBaseline = Type.Object({ fileSha256: Name, name: BaselineName, setBy: Name, setAt: Name }, closed);
export type ImportedBaseline = Static<typeof ImportedBaseline>;

/** A named evaluation that later ones are compared with. */
export const EvalBaseline = Type.Object(
  {
    suiteId: SuiteId,
    name: BaselineName,
    runId: Type.String({ minLength: 1, description: "of an evaluation elsewhere, where it was imported" }),
    suiteVersion: Name,
    suiteSha256: Name,
    agentId: Name,
    resolvedAgentVersion: Name,
    aggregateScore: Share,
    passed: Type.Boolean(),
    taskCount: Count,
    passedCount: Count,
    setBy: Name,
    setAt: Name,
    replacedRunId: Type.Optional(Type.String({ description: "the evaluation that had this name before" })),
    imported: Type.Optional(ImportedBaseline),
  },
  closed,
);
export type EvalBaseline = Static<typeof EvalBaseline>;

export const SetBaselineRequest = Type.Object(
  {
    runId: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: "an evaluation that has completed" }),
    ),
    fileSha256: Type.Optional(
      Type.String({ pattern: "^[0-9a-f]{64}$", description: "a baseline file that is kept here, in place of `runId`" }),
    ),
  },
  closed,
);
export type SetBaselineRequest = Static<typeof SetBaselineRequest>;

export const BaselineListQuery = Type.Object({ suiteId: Type.Optional(SuiteId), limit: Limit, cursor: Cursor }, closed);
export type BaselineListQuery = Static<typeof BaselineListQuery>;

export const BaselinePage = pageOf("baselines", EvalBaseline);
export type BaselinePage = Static<typeof BaselinePage>;

/** An evaluation in a list. */
export const EvalEntry = Type.Object(
  {
    runId: Name,
    status: RunStatusSchema,
    suiteId: Name,
    suiteVersion: Name,
    agentId: Name,
    resolvedAgentVersion: Name,
    modes: Type.Array(Type.Enum([...EVAL_MODES])),
    taskCount: Count,
    trialsPerTask: Count,
    baselineRunId: Type.Optional(Name),
    baselineFileSha256: Type.Optional(
      Type.String({ description: "the baseline was imported: the digest of its file" }),
    ),
    startedAt: Name,
    endedAt: Type.Optional(Name),
    aggregateScore: Type.Optional(Share),
    passed: Type.Optional(Type.Boolean({ description: "whether the bars of the suite are met" })),
    passedCount: Type.Optional(Count),
    scoreDelta: Type.Optional(
      Type.Number({
        minimum: -1,
        maximum: 1,
        description: "the score less that of the baseline; whether that is more than chance is in the report",
      }),
    ),
    error: Type.Optional(Type.String({ description: "the code of what it failed with" })),
    errorMessage: Type.Optional(Type.String({ description: "how that came, for codes that begin with `eval_`" })),
  },
  closed,
);
export type EvalEntry = Static<typeof EvalEntry>;

export const EvalListQuery = Type.Object(
  {
    suiteId: Type.Optional(SuiteId),
    agentId: Type.Optional(ShortName),
    status: Type.Optional(RunStatusSchema),
    limit: Limit,
    cursor: Cursor,
  },
  closed,
);
export type EvalListQuery = Static<typeof EvalListQuery>;

export const EvalPage = pageOf("evals", EvalEntry);
export type EvalPage = Static<typeof EvalPage>;

export const EvalReportQuery = Type.Object(
  {
    content: Type.Optional(
      Type.Enum(["true", "false"], { description: "also what the agent answered and how that was judged" }),
    ),
  },
  closed,
);
export type EvalReportQuery = Static<typeof EvalReportQuery>;

export const BASELINE_FORMAT = "assay-eval-baseline";
export const BASELINE_FILE_VERSION = 2;

const Outcome = {
  score: Type.Union([Share, Type.Null({ description: "no trial could be scored" })]),
  passed: Type.Boolean(),
  trials: Type.Object({ scored: Count, passed: Count, errors: Count }, closed),
};

/** The facts about a task that a comparison needs. */
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
