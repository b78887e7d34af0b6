import type { ActorKind } from "../../protocol/judgments/annotation.ts";
import type { ApartFigures, FeedbackFigures, RateInterval } from "../../protocol/judgments/feedback-api.ts";
import { wilson } from "../../statistics/wilson.ts";
import { type FeedbackRow, NO_FEEDBACK } from "../../store/port/judgments.ts";

/** What the rows of one group amount to: people first, agents and code apart from them and from each other; of imports their number. */
export function feedbackFigures(rows: readonly FeedbackRow[]): FeedbackFigures {
  const [{ runs, intervened } = NO_FEEDBACK] = rows;
  const of = (kind: ActorKind) =>
    figuresOf({ ...(rows.find(({ actorKind }) => actorKind === kind) ?? NO_FEEDBACK), runs });
  const { intervals, ...people } = of("person");
  return {
    ...people,
    interventionRate: share(intervened, runs),
    intervals: { ...intervals, interventionRate: interval(intervened, runs) },
    agents: of("agent"),
    code: of("code"),
    imported: rows.find(({ actorKind }) => actorKind === "imported")?.annotations ?? 0,
  };
}

function figuresOf(row: FeedbackRow): ApartFigures {
  const { runs, histogram, ratedRuns, meanRatings, correctedRuns, flaggedRuns, judgedRuns, positiveRuns } = row;
  const { annotatedRuns, annotations, corrections, flags, labels, otherLabels } = row;
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
    ...(otherLabels === 0 ? {} : { otherLabels }),
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
