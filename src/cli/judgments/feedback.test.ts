import { describe, expect, test } from "vitest";
import { feedbackFigures } from "../../engine/judgments/feedback-summary.ts";
import { FEEDBACK_GROUPINGS } from "../../protocol/judgments/feedback-api.ts";
import type { FeedbackRow } from "../../store/port/judgments.ts";
import { paintFor } from "../output/io.ts";
import { FEEDBACK_SUMMARY_FLAGS } from "./commands.ts";
import { feedbackChart, feedbackTable } from "./feedback.ts";

const PEOPLE: FeedbackRow = {
  key: "",
  runs: 200,
  intervened: 50,
  actorKind: "person",
  annotatedRuns: 61,
  annotations: 90,
  histogram: [1, 0, 5, 20, 40],
  ratedRuns: 60,
  meanRatings: 258,
  corrections: 4,
  correctedRuns: 3,
  flags: 0,
  flaggedRuns: 0,
  judgedRuns: 60,
  positiveRuns: 54,
  otherLabels: 0,
  labels: { "wrong-tone": 2, pass: 6, "evil\u001b[2J": 2 },
};
const plain = paintFor(false);
const style = { paint: plain, bar: "#" };

describe("the chart of feedback", () => {
  test("shows every rate with its interval and its count", () => {
    const chart = feedbackChart(feedbackFigures([PEOPLE]), style);
    expect(chart.split("\n")).toEqual([
      "200 runs ended in this period.",
      "",
      "People: 90 judgments on 61 runs",
      "Rating 4.30 of 5: 66 ratings on 60 runs",
      `  5  ${"#".repeat(30)}  40`,
      `  4  ${"#".repeat(15).padEnd(30)}  20`,
      `  3  ${"#".repeat(4).padEnd(30)}  5`,
      `  2  ${" ".repeat(30)}  0`,
      `  1  ${"#".padEnd(30)}  1`,
      "RATE          SHARE  95% INTERVAL    RUNS",
      "accuracy      90%    79.9% to 95.3%  54 of 60",
      "correction    1.5%   0.5% to 4.3%    3 of 200",
      "flag          0%     0% to 1.9%      0 of 200",
      "intervention  25%    19.5% to 31.4%  50 of 200",
      "Labels: pass 6, evil\ufffd[2J 2, wrong-tone 2",
    ]);
  });

  test("has agents and code in blocks of their own, and only when they judged", () => {
    const agent: FeedbackRow = { ...PEOPLE, actorKind: "agent", labels: {} };
    const chart = feedbackChart(feedbackFigures([PEOPLE, agent]), style);
    expect(chart).toContain("\n\nAgents: 90 judgments on 61 runs\n");
    expect(chart).not.toContain("Code:");
    expect(chart.match(/intervention/g)).toHaveLength(1);
  });

  test("has the number of imported judgments last, in the chart and in the table, and only when there are any", () => {
    const imported: FeedbackRow = { ...PEOPLE, actorKind: "imported", annotations: 1204 };
    const total = feedbackFigures([PEOPLE, imported]);
    expect(feedbackChart(total, style)).toMatch(/\n\nImported: 1,204 judgments, in no figure above$/);
    expect(feedbackChart(feedbackFigures([PEOPLE]), style)).not.toContain("Imported");
    const table = feedbackTable({ total, groups: [{ key: { agentId: null }, ...total }] }, plain).split("\n");
    expect(table.map((line) => line.split(" ").at(-1))).toEqual(["IMPORTED", "1204", "1204"]);
  });

  test("says that there is nothing to say", () => {
    const chart = feedbackChart(feedbackFigures([]), style);
    expect(chart).toContain("0 runs ended");
    expect(chart).toMatch(/accuracy +- +- +none\n/);
    expect(chart).not.toContain("Rating");
    expect(chart).not.toMatch(/NaN|null|undefined/);
  });

  test("is a table with a line for each group and one for all", () => {
    const total = feedbackFigures([PEOPLE]);
    const key = { agentId: null };
    const [heading, first, last] = feedbackTable({ total, groups: [{ key, ...total }] }, plain).split("\n");
    expect(heading).toMatch(/^FEEDBACK +RUNS +JUDGED +RATING +ACCURACY +CORRECTION +FLAG +INTERVENTION$/);
    expect(first).toMatch(/^\(no agent\) +200 +60 \(30%\) +4\.30 \(66\) +90% \[79\.9% to 95\.3%\] 54\/60 /);
    expect(last).toMatch(/^all +200 /);
  });
});

// Written out in the table of commands, because loading the protocol would make `assay --help` slow.
test("the groupings of the command are those of the protocol", () => {
  expect(FEEDBACK_SUMMARY_FLAGS.groupBy.choices).toEqual(FEEDBACK_GROUPINGS);
});
