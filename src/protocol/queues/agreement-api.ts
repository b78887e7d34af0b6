import { ACTOR_KINDS } from "../judgments/annotation.ts";
import { Count, closed, nullable, Share, type Static, Type } from "../schema.ts";
import { JudgmentValue } from "./api.ts";

/** Agreement of the reviewers of a queue. An undefined figure is `null`, with its reason. */
const MaybeNumber = nullable(Type.Number());
const Reason = Type.Optional(Type.Enum(["no_common_items", "unequal_counts", "no_variation"]));
const FIGURE = { value: MaybeNumber, reason: Reason };

const CohenPair = Type.Object(
  {
    reviewers: Type.Array(Type.String(), { minItems: 2, maxItems: 2 }),
    ...FIGURE,
    items: Type.Integer({ minimum: 0, description: "that both judged" }),
    observed: MaybeNumber,
    expected: MaybeNumber,
    standardError: MaybeNumber,
    interval: nullable(
      Type.Object(
        { low: Type.Number(), high: Type.Number(), method: Type.Literal("standard_error") },
        { ...closed, description: "of 95 %" },
      ),
    ),
  },
  closed,
);

const Fleiss = Type.Object(
  {
    ...FIGURE,
    items: Count,
    ratingsPerItem: nullable(Count),
    observed: MaybeNumber,
    expected: MaybeNumber,
  },
  closed,
);

const Krippendorff = Type.Object(
  { ...FIGURE, metric: Type.Enum(["nominal", "ordinal", "interval", "ratio"]), items: Count, ratings: Count },
  closed,
);

/** Nominal alpha of one value against all others: which of them reviewers see differently. */
const ByValue = Type.Object({ given: JudgmentValue, judgments: Count, items: Count, ...FIGURE }, closed);

export const AgreementFigures = Type.Object(
  {
    items: Type.Integer({ minimum: 0, description: "with two judgments or more" }),
    judgments: Type.Integer({ minimum: 0, description: "on items with at least one" }),
    agreed: Type.Integer({ minimum: 0, description: "of those items, how many all judged alike" }),
    reviewers: Type.Array(
      Type.Object({ reviewer: Type.String(), kind: Type.Enum([...ACTOR_KINDS]), judgments: Count }, closed),
    ),
    cohen: Type.Array(CohenPair),
    morePairs: Type.Integer({ minimum: 0, description: "pairs of reviewers beyond those that are listed" }),
    fleiss: Fleiss,
    krippendorff: Krippendorff,
    byValue: Type.Array(ByValue),
  },
  closed,
);
export type AgreementFigures = Static<typeof AgreementFigures>;

export const QueueAgreement = Type.Object(
  {
    queueId: Type.String(),
    judgment: Type.Enum(["rating", "label", "flag"]),
    items: Type.Integer({ minimum: 0, description: "with at least one judgment that stands" }),
    complete: Type.Boolean({ description: "false where there are more items than one answer looks at" }),
    settled: Type.Object({ agreed: Count, disputed: Count, adjudicated: Count }, closed),
    disputedShare: nullable(Share, {
      description: "of the settled and disputed items, how many reviewers did not agree on",
    }),
    disputedInterval: nullable(Type.Object({ low: Type.Number(), high: Type.Number() }, closed), {
      description: "of that share, by Wilson, 95 %",
    }),
    withdrawn: Type.Integer({ minimum: 0, description: "judgments left out: replaced or retracted outside the queue" }),
    revised: Type.Integer({ minimum: 0, description: "judgments that count as their authors changed them" }),
    people: AgreementFigures,
    agents: Type.Optional(AgreementFigures),
    all: Type.Optional(AgreementFigures),
  },
  closed,
);
export type QueueAgreement = Static<typeof QueueAgreement>;

export const AgreementQuery = Type.Object(
  {
    include: Type.Optional(
      Type.Enum(["agents"], { description: "agents and code too: apart, and together with people" }),
    ),
  },
  closed,
);
export type AgreementQuery = Static<typeof AgreementQuery>;
