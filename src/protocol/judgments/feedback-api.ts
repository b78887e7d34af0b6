import { Count, closed, Id, nullable, Share, ShortName, type Static, Type } from "../schema.ts";

const MaybeShare = nullable(Share);

export const FEEDBACK_GROUPINGS = ["workflow", "agent", "node", "day"] as const;
export type FeedbackGrouping = (typeof FEEDBACK_GROUPINGS)[number];

/** A rate with its counts and its 95 % Wilson interval. */
const RateInterval = nullable(
  Type.Object({ count: Count, of: Count, low: Type.Number(), high: Type.Number() }, closed),
);
export type RateInterval = Static<typeof RateInterval>;

const INTERVALS = { correctionRate: RateInterval, flagRate: RateInterval, accuracy: RateInterval };

/** Of live judgments that were made on this host, on runs that ended in the period. An undefined figure is null, never 0. */
const FIGURES = {
  runs: Count,
  annotatedRuns: Count,
  annotations: Count,
  ratings: Type.Object(
    {
      count: Count,
      mean: nullable(
        Type.Number({ minimum: 1, maximum: 5, description: "over the rated runs, of the mean rating of each" }),
      ),
      histogram: Type.Array(Count, { minItems: 5, maxItems: 5, description: "how many ratings of 1, 2, 3, 4 and 5" }),
    },
    closed,
  ),
  ratedRuns: Count,
  corrections: Count,
  flags: Count,
  labels: Type.Record(Type.String(), Count, { description: "the 1,000 that were given most often" }),
  otherLabels: Type.Optional(
    Type.Integer({ minimum: 1, description: "how many judgments gave a label that is not named in labels" }),
  ),
  correctionRate: MaybeShare,
  flagRate: MaybeShare,
  accuracy: MaybeShare,
  judgedRuns: Type.Integer({ minimum: 0, description: "runs with a rating, or a label pass or fail" }),
  judgedShare: MaybeShare,
};

/** Judgments of agents, or of code: the same figures, never mixed with those of people. */
const ApartFigures = Type.Object({ ...FIGURES, intervals: Type.Object(INTERVALS, closed) }, closed);
export type ApartFigures = Static<typeof ApartFigures>;

const PEOPLE = {
  ...FIGURES,
  interventionRate: MaybeShare,
  intervals: Type.Object({ ...INTERVALS, interventionRate: RateInterval }, closed),
  agents: ApartFigures,
  code: ApartFigures,
  imported: Type.Integer({
    minimum: 0,
    description: "imported judgments on these runs, of people, agents and code; no other figure counts them",
  }),
};
export const FeedbackFigures = Type.Object(PEOPLE, closed);
export type FeedbackFigures = Static<typeof FeedbackFigures>;

const GroupKey = Type.Object(
  {
    workflowId: Type.Optional(Type.String()),
    agentId: Type.Optional(
      nullable(Type.String(), { description: "null for runs that name no agent and called none" }),
    ),
    nodeId: Type.Optional(Type.String()),
    day: Type.Optional(Type.String({ description: "in UTC" })),
  },
  closed,
);
export type FeedbackGroupKey = Static<typeof GroupKey>;

export const FeedbackSummary = Type.Object(
  { total: FeedbackFigures, groups: Type.Array(Type.Object({ key: GroupKey, ...PEOPLE }, closed)) },
  closed,
);
export type FeedbackSummary = Static<typeof FeedbackSummary>;

const instant = (description: string) => Type.Optional(Type.String({ minLength: 20, maxLength: 40, description }));

export const FeedbackSummaryQuery = Type.Object(
  {
    workflowId: Type.Optional(Id),
    agentId: Type.Optional(ShortName),
    nodeId: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: "only judgments about this node; all runs count" }),
    ),
    from: instant("runs that ended at this instant or later"),
    to: instant("runs that ended before"),
    groupBy: Type.Optional(Type.Enum([...FEEDBACK_GROUPINGS])),
  },
  closed,
);
export type FeedbackSummaryQuery = Static<typeof FeedbackSummaryQuery>;
