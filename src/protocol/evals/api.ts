import { SafetyFinding } from "../agents/api.ts";
import {
  Count,
  closed,
  Name,
  nullable,
  open,
  Positive,
  Seed,
  Sha256,
  Share,
  ShortName,
  type Static,
  Type,
} from "../schema.ts";
import { EvalOverride } from "./eval-override.ts";
import { Aggregate, Comparison, Rate, TaskFigures, TaskPassFigures } from "./eval-statistics.ts";
import { EVAL_MODES, MODEL_CLASSES, NAME_LENGTH_MAX, SuiteId, SuiteVersion, TASK_ID_PATTERN } from "./eval-suite.ts";
import { CertificateProblem, RequireCertificate } from "./judge-certificate-api.ts";

const Usd = Type.Number({ minimum: 0 });

/** Runs of mode eval are of this workflow. */
export const EVAL_WORKFLOW_ID = "assay-eval";

/** The scorecard of an evaluation: figures only, no text of a task, an output or a rubric. */
export const EvalSummary = Type.Object(
  {
    suiteId: SuiteId,
    suiteVersion: SuiteVersion,
    aggregateScore: Share,
    passed: Type.Boolean(),
    taskCount: Count,
    passedCount: Count,
    tasks: Type.Array(
      Type.Object(
        {
          taskId: Type.String({ pattern: TASK_ID_PATTERN, maxLength: NAME_LENGTH_MAX }),
          score: Share,
          passed: Type.Boolean(),
          costUsd: Type.Optional(Usd),
          latencyMs: Type.Optional(Count),
          schemaValid: Type.Optional(Type.Boolean()),
          safetyFindings: Type.Optional(Type.Array(SafetyFinding)),
        },
        closed,
      ),
    ),
    evaluatedModelClass: Type.Optional(Type.Enum([...MODEL_CLASSES])),
    totalCostUsd: Type.Optional(Usd),
    regression: Type.Optional(
      Type.Object(
        {
          baselineRunId: Name,
          scoreDelta: Type.Number({ minimum: -1, maximum: 1 }),
          diffRef: Type.Optional(Type.String()),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type EvalSummary = Static<typeof EvalSummary>;

/** How much of an agent's reasoning is kept. */
export const REASONING_VERBOSITIES = ["full", "summary", "off"] as const;

/** The members of `configurable` that are about an evaluation. */
export const EvalConfigurable = Type.Object(
  {
    evalModes: Type.Optional(Type.Array(Type.Enum([...EVAL_MODES]), { minItems: 1, uniqueItems: true })),
    baselineRunId: Type.Optional(Name),
    baseline: Type.Optional(Name),
    baselineFileSha256: Type.Optional(Sha256),
    agentVersion: Type.Optional(Name),
    taskIds: Type.Optional(Type.Array(Name, { uniqueItems: true })),
    allowMissing: Type.Optional(
      Type.Array(Name, {
        description: "modes and tasks of the suite that need not be run for a verdict",
        uniqueItems: true,
      }),
    ),
    trials: Type.Optional(Positive),
    concurrency: Type.Optional(Positive),
    retryErrors: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
    budgetUsd: Type.Optional(Usd),
    cache: Type.Optional(Type.Boolean()),
    agentLabel: Type.Optional(ShortName),
    seed: Type.Optional(Seed),
    alpha: Type.Optional(Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 })),
    margin: Type.Optional(Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 })),
    requireCertificate: Type.Optional(RequireCertificate),
    reasoningVerbosity: Type.Optional(
      Type.Enum([...REASONING_VERBOSITIES], { description: "how much of the reasoning is kept with each task; full" }),
    ),
    anyAgent: Type.Optional(Type.Boolean({ description: "evaluate another agent than the suite is made for" })),
  },
  open,
);
export type EvalConfigurable = Static<typeof EvalConfigurable>;

/** The judge of the rubrics of an evaluation, and how far it can be trusted now. */
export const EvalReportJudge = Type.Object(
  {
    model: Name,
    tasks: Type.Integer({ minimum: 0, description: "with a verdict of the judge" }),
    certificateId: Type.Optional(Name),
    kappa: Type.Optional(Type.Number()),
    problems: Type.Array(CertificateProblem, { description: "why the judge is not certified; empty when it is" }),
    observedPassRate: Rate,
    correctedPassRate: Type.Optional(
      Type.Object(Rate.properties, {
        ...closed,
        description:
          "what it would be without the errors the judge makes (Rogan and Gladen); only of a certified judge",
      }),
    ),
  },
  closed,
);
export type EvalReportJudge = Static<typeof EvalReportJudge>;

/** How an evaluation ended that did not complete. */
export const EvalStop = Type.Object(
  {
    status: Type.Enum(["failed", "cancelled"]),
    error: Type.Optional(Type.String({ description: "the code of what it failed with" })),
    errorMessage: Type.Optional(Type.String({ description: "how that came, for codes that begin with `eval_`" })),
    tasksDone: Count,
    tasksPlanned: Count,
  },
  closed,
);
export type EvalStop = Static<typeof EvalStop>;

/** Why a mode was not run, or a task in it. */
export const NOT_RUN_REASONS = ["no_judge", "no_baseline", "not_named", "not_asked", "not_chosen"] as const;
export type NotRunReason = (typeof NOT_RUN_REASONS)[number];

/** Tasks of the suite that were not run in one of its modes, for one reason. */
export const EvalNotRun = Type.Object(
  {
    mode: Type.Enum([...EVAL_MODES]),
    reason: Type.Enum([...NOT_RUN_REASONS], {
      description:
        "no_judge: no judge is configured; no_baseline: regression needs one; not_named: live-shadow runs only when named; " +
        "not_asked: other modes were asked for; not_chosen: other tasks were chosen",
    }),
    taskCount: Type.Integer({ minimum: 0, description: "tasks that were not run in this mode" }),
    taskIds: Type.Array(Name, { description: "those of them that were run in no other mode either" }),
    missing: Type.Integer({
      minimum: 0,
      description: "tasks that the evaluation should have had and could not run: without them there is no verdict",
    }),
    missingFromBaseline: Type.Integer({
      minimum: 0,
      description: "tasks that the caller left out and the baseline has: without them there is no verdict",
    }),
  },
  closed,
);
export type EvalNotRun = Static<typeof EvalNotRun>;

const InMode = { mode: Type.Optional(Type.Enum([...EVAL_MODES])) };

export const EvalReportTask = Type.Object(
  {
    ...TaskFigures.properties,
    passes: Type.Array(TaskPassFigures, {
      description:
        "the task in each mode it was run in; empty where an earlier version made one pass for several modes",
    }),
    findings: Type.Array(Type.Object({ ...SafetyFinding.properties, by: Name, trial: Positive, ...InMode }, closed)),
    errors: Type.Array(Type.Object({ trial: Positive, ...InMode, code: Name }, closed)),
    cached: Type.Integer({ minimum: 0, description: "trials that were not run" }),
    fixturesUnused: Type.Optional(
      Type.Array(Name, {
        description:
          "fixtures of the task that no trial asked for: names of tools, and `memorySeed`; absent where it has no fixtures or live tools answered",
      }),
    ),
    bodies: Type.Optional(
      Type.String({
        description: "where input, outputs, reasoning and tool calls are read, with scope artifacts:read",
      }),
    ),
    content: Type.Optional(
      Type.Array(Type.Unknown({ description: "what each trial answered, and how it was judged; only on request" })),
    ),
  },
  closed,
);

/** Everything there is to know of an evaluation: what was run, figures with their intervals, the verdict. */
export const EvalReport = Type.Object(
  {
    runId: Name,
    suiteId: Name,
    suiteVersion: Name,
    suiteSha256: Name,
    agentId: Name,
    resolvedAgentVersion: Name,
    modes: Type.Array(Type.Enum([...EVAL_MODES]), { description: "that were run; each is a pass of its own" }),
    trialsPerTask: Count,
    seed: Count,
    complete: Type.Boolean({
      description: "false: it was stopped; the figures are of the tasks that were done, and there is no verdict",
    }),
    stopped: Type.Optional(EvalStop),
    passed: Type.Boolean({ description: "never true of one that was stopped" }),
    unmet: Type.Array(Type.Enum(["score", "cost", "cost_unknown", "latency"])),
    aggregateScore: Share,
    figures: Aggregate,
    modeFigures: Type.Array(Type.Object({ mode: Type.Enum([...EVAL_MODES]), figures: Aggregate }, closed), {
      description:
        "the same figures for each mode that ran; empty where an earlier version made one pass for several modes",
    }),
    cachedTrials: Count,
    baseline: Type.Optional(
      Type.Object(
        {
          runId: Name,
          name: Type.Optional(Name),
          fileSha256: Type.Optional(Type.String({ description: "it was imported: the digest of its file" })),
          comparison: nullable(Comparison),
        },
        closed,
      ),
    ),
    judge: Type.Optional(EvalReportJudge),
    compared: Type.Boolean({ description: "false: there was no baseline, so nothing was compared" }),
    leftOut: Type.Object(
      { modes: Type.Array(Type.Enum([...EVAL_MODES])), tasks: Count },
      {
        ...closed,
        description: "modes that the suite declares and the evaluation did not have, and how many of its tasks",
      },
    ),
    notRun: Type.Array(EvalNotRun, { description: "what of the suite was not run, by mode and reason" }),
    warnings: Type.Array(Type.String({ description: "what a reader should know who only sees that it passed" })),
    override: EvalOverride,
    tasks: Type.Array(EvalReportTask),
  },
  closed,
);
export type EvalReport = Static<typeof EvalReport>;
