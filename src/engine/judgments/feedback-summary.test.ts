import { describe, expect, test } from "vitest";
import { FeedbackFigures } from "../../protocol/judgments/feedback-api.ts";
import { parse } from "../../protocol/schema.ts";
import { type FeedbackRow, NO_FEEDBACK } from "../../store/port/judgments.ts";
import { feedbackFigures } from "./feedback-summary.ts";

function row(more: Partial<FeedbackRow>): FeedbackRow {
  return { ...NO_FEEDBACK, runs: 20, ...more };
}

function figures(...rows: readonly FeedbackRow[]): FeedbackFigures {
  return parse(FeedbackFigures, feedbackFigures(rows), "figures");
}

describe("the figures of a group", () => {
  test("say nothing where nothing was counted", () => {
    const nothing = {
      runs: 0,
      annotatedRuns: 0,
      annotations: 0,
      ratings: { count: 0, mean: null, histogram: [0, 0, 0, 0, 0] },
      ratedRuns: 0,
      corrections: 0,
      flags: 0,
      labels: {},
      correctionRate: null,
      flagRate: null,
      accuracy: null,
      judgedRuns: 0,
      judgedShare: null,
      intervals: { correctionRate: null, flagRate: null, accuracy: null },
    };
    expect(figures()).toEqual({
      ...nothing,
      interventionRate: null,
      intervals: { ...nothing.intervals, interventionRate: null },
      agents: nothing,
      code: nothing,
      imported: 0,
    });
  });

  test("have the number of imported judgments, and nothing else of them", () => {
    const imported = row({ actorKind: "imported", annotations: 3, annotatedRuns: 2, flags: 3, flaggedRuns: 2 });
    const { imported: number, ...others } = figures(row({}), imported);
    const { imported: none, ...without } = figures(row({}));
    expect([number, none]).toEqual([3, 0]);
    expect(others).toEqual(without);
  });

  test("are rates over runs, not over judgments, each with what it was counted from", () => {
    const found = figures(row({ corrections: 9, correctedRuns: 5, flags: 3, flaggedRuns: 1, intervened: 20 }));
    expect(found).toMatchObject({
      corrections: 9,
      correctionRate: 0.25,
      flags: 3,
      flagRate: 0.05,
      interventionRate: 1,
    });
    expect(found.intervals.correctionRate).toMatchObject({ count: 5, of: 20 });
    expect(found.intervals.interventionRate).toMatchObject({ count: 20, of: 20, high: 1 });
  });

  test("have a rate of nought, with an interval, where runs were looked at and nothing was found", () => {
    const { flagRate, intervals } = figures(row({}));
    expect(flagRate).toBe(0);
    expect(intervals.flagRate).toMatchObject({ count: 0, of: 20, low: 0 });
    // Newcombe (1998): 0 of 20.
    expect(intervals.flagRate?.high).toBeCloseTo(0.1611, 4);
  });

  test("have the mean of the runs' means, and the histogram of all ratings", () => {
    // One run rated 1, 1 and 1, another 5: the first does not weigh three times as much.
    const { ratings, ratedRuns } = figures(row({ histogram: [3, 0, 0, 0, 1], ratedRuns: 2, meanRatings: 6 }));
    expect(ratings).toEqual({ count: 4, mean: 3, histogram: [3, 0, 0, 0, 1] });
    expect(ratedRuns).toBe(2);
  });

  test("have an accuracy of the judged runs only, and how many those are of all", () => {
    const found = figures(row({ judgedRuns: 8, positiveRuns: 6 }));
    expect(found).toMatchObject({ accuracy: 0.75, judgedRuns: 8, judgedShare: 0.4 });
    expect(found.intervals.accuracy).toMatchObject({ count: 6, of: 8 });
  });

  test("have no rate above 1, also when runs went while they were counted", () => {
    const { correctionRate, intervals } = figures(row({ runs: 3, correctedRuns: 4 }));
    expect(correctionRate).toBe(1);
    expect(intervals.correctionRate).toMatchObject({ count: 3, of: 3, high: 1 });
  });

  test("keep people, agents and code apart, over the same runs", () => {
    const found = figures(
      row({ actorKind: "agent", annotations: 7, flaggedRuns: 4, flags: 4, labels: { fail: 2 }, intervened: 3 }),
      row({ actorKind: "code", annotations: 2, judgedRuns: 2, positiveRuns: 1, intervened: 3 }),
    );
    expect(found).toMatchObject({ runs: 20, annotations: 0, flags: 0, labels: {}, flagRate: 0, accuracy: null });
    expect(found.interventionRate).toBe(0.15);
    expect(found.agents).toMatchObject({ runs: 20, annotations: 7, flagRate: 0.2, labels: { fail: 2 } });
    expect(found.code).toMatchObject({ runs: 20, annotations: 2, flagRate: 0, accuracy: 0.5 });
    expect(found.agents).not.toHaveProperty("interventionRate");
  });
});
