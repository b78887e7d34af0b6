import { Count, closed, nullable, Positive, Share, type Static, Type } from "../schema.ts";
import { EVAL_MODES } from "./eval-suite.ts";

/** Figures of evaluations. A rate or mean carries its count; an undefined one is null, with its reason. */
const TaskIds = Type.Array(Type.String());
const MaybeNumber = nullable(Type.Number());
const Probability = nullable(Share);
const Seed = Type.Integer({
  minimum: 0,
  maximum: 4_294_967_295,
  description: "what was drawn at random was drawn with",
});

export const NO_FIGURE = [
  "nothing_counted",
  "fewer_trials_than_k",
  "no_variation",
  "no_latency_known",
  "no_cost_known",
  "no_discordance",
  "discordance_below_margin",
  "judge_no_better_than_chance",
] as const;
export type NoFigure = (typeof NO_FIGURE)[number];
const Reason = Type.Optional(Type.Enum([...NO_FIGURE]));

export const IntervalOf95 = Type.Object(
  {
    low: Type.Number(),
    high: Type.Number(),
    method: Type.Enum(["wilson", "bootstrap", "standard_error"]),
    seed: Type.Optional(Seed),
  },
  { ...closed, description: "of 95 %" },
);
export type IntervalOf95 = Static<typeof IntervalOf95>;
const MaybeInterval = nullable(IntervalOf95);

/** A rate or a mean with its count and its confidence interval. */
export const Estimate = Type.Object(
  { value: MaybeNumber, reason: Reason, count: Count, interval: MaybeInterval, intervalReason: Reason },
  closed,
);
export type Estimate = Static<typeof Estimate>;

/** A rate without an interval of its own. */
export const Rate = Type.Object({ value: Probability, reason: Reason, count: Count }, closed);
export type Rate = Static<typeof Rate>;

const TaskAtK = Type.Object({ k: Positive, passAtK: Rate, passHatK: Rate }, closed);

export const TaskFigures = Type.Object(
  {
    taskId: Type.String(),
    score: Type.Union([
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: "mean of its scored trials; of a task that was run in several modes, the lowest of these means",
      }),
      Type.Null({ description: "no trial could be scored, or none in one of its modes" }),
    ]),
    passed: Type.Boolean(),
    flaky: Type.Boolean({ description: "some of its scored trials passed, and some did not" }),
    trials: Type.Object({ scored: Count, passed: Count, errors: Count }, closed),
    atK: Type.Array(TaskAtK),
    latencyMs: nullable(Type.Number({ minimum: 0, description: "mean of its trials" })),
    costUsd: nullable(Type.Number({ minimum: 0, description: "sum of its trials" })),
  },
  closed,
);
export type TaskFigures = Static<typeof TaskFigures>;

/** A task in one mode: its own trials, surroundings and score. */
export const TaskPassFigures = Type.Object(
  {
    mode: Type.Enum([...EVAL_MODES]),
    score: TaskFigures.properties.score,
    passed: Type.Boolean(),
    flaky: Type.Boolean(),
    trials: TaskFigures.properties.trials,
    latencyMs: TaskFigures.properties.latencyMs,
    costUsd: TaskFigures.properties.costUsd,
  },
  closed,
);
export type TaskPassFigures = Static<typeof TaskPassFigures>;

export const Aggregate = Type.Object(
  {
    tasks: Type.Object({ total: Count, scored: Count, passed: Count, flaky: Count, errored: Count }, closed),
    trials: Type.Object({ total: Count, scored: Count, passed: Count, errors: Count }, closed),
    errorsByCode: Type.Record(Type.String(), Count),
    score: Type.Object(Estimate.properties, { ...closed, description: "mean of the scores of the scored tasks" }),
    scoreAtLeast: Type.Object(Rate.properties, {
      ...closed,
      description: "the same over all tasks, with 0 for those that could not be scored",
    }),
    passRate: Type.Object(Estimate.properties, { ...closed, description: "share of the scored tasks that passed" }),
    atK: Type.Array(Type.Object({ k: Positive, passAtK: Estimate, passHatK: Estimate }, closed)),
    latency: Type.Object(
      {
        p95Ms: MaybeNumber,
        reason: Reason,
        count: Type.Integer({ minimum: 0, description: "trials whose latency is known" }),
        method: Type.Literal("nearest_rank"),
      },
      closed,
    ),
    cost: Type.Object(
      {
        totalUsd: MaybeNumber,
        reason: Reason,
        count: Type.Integer({ minimum: 0, description: "trials whose cost is known" }),
        unknown: Type.Integer({ minimum: 0, description: "trials whose cost is not; the total is then a least one" }),
      },
      closed,
    ),
    seed: Seed,
  },
  closed,
);
export type Aggregate = Static<typeof Aggregate>;

export const VERDICTS = ["regressed", "suspect", "not_enough_data", "noise", "improved"] as const;
export type Verdict = (typeof VERDICTS)[number];

export const PassFailTest = Type.Object(
  { test: Type.Literal("mcnemar"), p: Probability, reason: Reason, lost: Count, gained: Count },
  closed,
);
export type PassFailTest = Static<typeof PassFailTest>;

export const ScoreTest = Type.Object(
  {
    test: Type.Literal("sign_flip"),
    p: Probability,
    reason: Reason,
    flips: Type.Integer({ minimum: 0, description: "that were tried" }),
    extreme: Type.Integer({ minimum: 0, description: "of which gave a difference at least as large" }),
    all: Type.Boolean({ description: "every possible flip was tried; else they were drawn at random" }),
    seed: Type.Optional(Seed),
  },
  closed,
);
export type ScoreTest = Static<typeof ScoreTest>;

export const TasksNeeded = Type.Object(
  {
    value: nullable(Positive),
    reason: Reason,
    discordance: Type.Number({ minimum: 0 }),
    power: Type.Literal(0.8),
  },
  closed,
);
export type TasksNeeded = Static<typeof TasksNeeded>;

const Side = Type.Object({ mean: MaybeNumber, count: Count }, closed);
const ModeCounts = Type.Array(Type.Object({ mode: Type.Enum([...EVAL_MODES]), tasks: Positive }, closed));
const Sides = Type.Object({ candidate: TaskIds, baseline: TaskIds }, closed);

export const Comparison = Type.Object(
  {
    verdict: Type.Enum([...VERDICTS]),
    reason: Type.String({ description: "the verdict in a sentence or two" }),
    pairs: Count,
    unpaired: Type.Object(Sides.properties, { ...closed, description: "tasks that only that side has" }),
    unpairedModes: Type.Object(
      { candidate: ModeCounts, baseline: ModeCounts },
      { ...closed, description: "modes that only that side has, of tasks that both have" },
    ),
    errored: Type.Object(Sides.properties, { ...closed, description: "tasks that side could not score" }),
    measure: Type.Enum(["pass_rate", "score"]),
    candidate: Side,
    baseline: Side,
    delta: MaybeNumber,
    interval: MaybeInterval,
    decidedBy: Type.Enum(["mcnemar", "sign_flip"]),
    p: Probability,
    adjustedP: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: "Holm; what the verdict used" })),
    passFail: PassFailTest,
    scores: ScoreTest,
    lost: TaskIds,
    gained: TaskIds,
    tasksNeeded: Type.Optional(TasksNeeded),
    alpha: Type.Number(),
    margin: Type.Number(),
  },
  closed,
);
export type Comparison = Static<typeof Comparison>;

export const SuiteComparisons = Type.Object(
  {
    verdict: Type.Enum([...VERDICTS]),
    reason: Type.String(),
    suites: Type.Array(Type.Object({ suite: Type.String(), comparison: Comparison }, closed)),
  },
  closed,
);
export type SuiteComparisons = Static<typeof SuiteComparisons>;
