import type { ActorKind } from "../protocol/annotation.ts";
import type { ApartFigures, FeedbackFigures, RateInterval } from "../protocol/feedback-api.ts";
import type { FeedbackRow } from "../store/judgments.ts";
import { wilson } from "./decide/wilson.ts";

/** What the rows of one group amount to: people first, agents and code apart from them and from each other. */
export function feedbackFigures(rows: readonly FeedbackRow[]): FeedbackFigures {
  const [{ runs, intervened } = NOTHING] = rows;
  const of = (kind: ActorKind) => figuresOf({ ...(rows.find(({ actorKind }) => actorKind === kind) ?? NOTHING), runs });
  const { intervals, ...people } = of("person");
  return {
    ...people,
    interventionRate: share(intervened, runs),
    intervals: { ...intervals, interventionRate: interval(intervened, runs) },
    agents: of("agent"),
    code: of("code"),
  };
}

const NOTHING: FeedbackRow = {
  key: "",
  runs: 0,
  intervened: 0,
  actorKind: "person",
  annotatedRuns: 0,
  annotations: 0,
  histogram: [0, 0, 0, 0, 0],
  ratedRuns: 0,
  meanRatings: 0,
  corrections: 0,
  correctedRuns: 0,
  flags: 0,
  flaggedRuns: 0,
  judgedRuns: 0,
  positiveRuns: 0,
  labels: {},
};

function figuresOf(row: FeedbackRow): ApartFigures {
  const { runs, histogram, ratedRuns, meanRatings, correctedRuns, flaggedRuns, judgedRuns, positiveRuns } = row;
  const { annotatedRuns, annotations, corrections, flags, labels } = row;
  const mean = ratedRuns === 0 ? null : meanRatings / ratedRuns;
  return {
    runs,
    annotatedRuns,
    annotations,
    ratings: { count: histogram.reduce((sum, n) => sum + n, 0), mean, histogram: [...histogram] },
    ratedRuns,
    corrections,
    flags,
    labels: { ...labels },
    correctionRate: share(correctedRuns, runs),
    flagRate: share(flaggedRuns, runs),
    accuracy: share(positiveRuns, judgedRuns),
    judgedRuns,
    judgedShare: share(judgedRuns, runs),
    intervals: {
      correctionRate: interval(correctedRuns, runs),
      flagRate: interval(flaggedRuns, runs),
      accuracy: interval(positiveRuns, judgedRuns),
    },
  };
}

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : among(part, whole) / whole;
}

function interval(part: number, of: number): RateInterval {
  const count = among(part, of);
  const found = wilson(count, of);
  return found === null ? null : { count, of, ...found };
}

/** Runs that were deleted between two reads of a summary must not make a rate of more than 1. */
function among(part: number, whole: number): number {
  return Math.min(part, whole);
}
