import { describe, expect, test } from "vitest";
import { CalibrationReport } from "../protocol/evals/judge-certificate-api.ts";
import { matches } from "../protocol/schema.ts";
import { pick, randomFrom } from "../testing/random-workflow.ts";
import { calibrationReport, type JudgedItem } from "./calibration.ts";
import { type GoldJudgment, goldOf } from "./gold.ts";

function items(...cells: [gold: string, judge: string, count: number][]): JudgedItem[] {
  return cells
    .flatMap(([gold, judge, count]) => Array.from({ length: count }, () => ({ gold, judge })))
    .map((labels, i) => ({ itemId: `item-${i}`, ...labels }));
}

const WORKED = items(["pass", "pass", 20], ["pass", "fail", 5], ["fail", "pass", 10], ["fail", "fail", 15]);

describe("the calibration of a judge", () => {
  const report = calibrationReport(WORKED, { seed: 1 });

  test("has the worked kappa, with the interval of its standard error for fifty items", () => {
    expect(report.kappa).toMatchObject({ count: 50, interval: { method: "standard_error" } });
    expect(report.kappa.value).toBeCloseTo(0.4, 12);
    expect(report.kappa.interval?.low).toBeCloseTo(0.4 - 1.96 * 0.1296, 3);
  });

  test("counts each cell, and has accuracy, sensitivity and specificity with their counts and intervals", () => {
    expect(report).toMatchObject({
      n: 50,
      positive: "pass",
      labels: ["fail", "pass"],
      confusion: [
        { gold: "fail", judge: "fail", count: 15 },
        { gold: "fail", judge: "pass", count: 10 },
        { gold: "pass", judge: "fail", count: 5 },
        { gold: "pass", judge: "pass", count: 20 },
      ],
      accuracy: { value: 0.7, count: 50, interval: { method: "wilson" } },
      sensitivity: { value: 0.8, count: 25, interval: { method: "wilson" } },
      specificity: { value: 0.6, count: 25, interval: { method: "wilson" } },
    });
  });

  test("says the same of each label against all others", () => {
    const three = calibrationReport(
      items(["good", "good", 30], ["good", "bad", 4], ["bad", "bad", 12], ["odd", "good", 6], ["odd", "odd", 8]),
      { seed: 1, positive: "good" },
    );
    expect(three.byLabel.map(({ label }) => label)).toEqual(["bad", "good", "odd"]);
    const odd = three.byLabel[2];
    expect(odd).toMatchObject({ truePositives: 8, falsePositives: 0, falseNegatives: 6, trueNegatives: 46 });
    expect(odd).toMatchObject({ specificity: { value: 1, count: 46 }, sensitivity: { count: 14 } });
    expect(three.sensitivity.value).toBeCloseTo(30 / 34, 12);
    expect(three.specificity.value).toBeCloseTo(20 / 26, 12);
    expect(three.accuracy.value).toBeCloseTo(50 / 60, 12);
    expect(matches(CalibrationReport, three)).toBe(true);
  });

  test("resamples few items for the interval, by its seed", () => {
    const few = items(["pass", "pass", 9], ["pass", "fail", 2], ["fail", "pass", 3], ["fail", "fail", 8]);
    const { kappa } = calibrationReport(few, { seed: 5 });
    expect(kappa).toMatchObject({ count: 22, interval: { method: "bootstrap", seed: 5 } });
    expect(kappa.interval?.low).toBeLessThan(kappa.value ?? -1);
    expect(kappa.interval?.high).toBeGreaterThan(kappa.value ?? 1);
    expect(calibrationReport(few.toReversed(), { seed: 5 }).kappa).toEqual(kappa);
    expect(calibrationReport(few, { seed: 6 }).kappa.interval).not.toEqual(kappa.interval);
  });

  test("claims no interval where all agree, or where one label is so rare that most resamples lack it", () => {
    const agreed = calibrationReport(items(["pass", "pass", 6], ["fail", "fail", 6]), { seed: 1 }).kappa;
    expect(agreed).toMatchObject({ value: 1, interval: null, intervalReason: "no_variation" });
    const many = calibrationReport(items(["pass", "pass", 60], ["fail", "fail", 60]), { seed: 1 }).kappa;
    expect(many).toMatchObject({ value: 1, interval: null, intervalReason: "no_variation" });
    const rare = calibrationReport(items(["pass", "pass", 10], ["fail", "fail", 1], ["pass", "fail", 1]), {
      seed: 1,
    }).kappa;
    expect(rare).toMatchObject({ count: 12, interval: null, intervalReason: "no_variation" });
  });

  test("is undefined, with reasons, where there is nothing or only one label", () => {
    const none = calibrationReport([], { seed: 1 });
    expect(none).toMatchObject({ n: 0, confusion: [], byLabel: [] });
    expect(none).toMatchObject({ accuracy: { value: null }, kappa: { value: null, reason: "nothing_counted" } });
    const same = calibrationReport(items(["pass", "pass", 60]), { seed: 1 });
    expect(same.kappa).toMatchObject({ value: null, reason: "no_variation" });
    expect(same.specificity).toMatchObject({ value: null, reason: "nothing_counted", count: 0 });
    expect(matches(CalibrationReport, none) && matches(CalibrationReport, same)).toBe(true);
  });

  test("refuses an item that is there twice", () => {
    const [first] = WORKED;
    expect(() => calibrationReport([...WORKED, first as JudgedItem], { seed: 1 })).toThrow("an item is there twice");
  });

  test("has the same accuracy and kappa when judge and people change places, and sums that fit", () => {
    const random = randomFrom(31);
    for (let round = 0; round < 10; round++) {
      const labels = ["a", "b", "c"].slice(0, 2 + (round % 2));
      const judged = Array.from({ length: 5 + Math.floor(random() * 80) }, (_, i) => ({
        itemId: `item-${i}`,
        gold: pick(random, labels),
        judge: pick(random, labels),
      }));
      const here = calibrationReport(judged, { seed: 1, positive: "a" });
      const there = calibrationReport(
        judged.map(({ itemId, gold, judge }) => ({ itemId, gold: judge, judge: gold })),
        { seed: 1, positive: "a" },
      );
      expect(there.accuracy).toEqual(here.accuracy);
      expect(there.kappa.value).toBeCloseTo(here.kappa.value ?? Number.NaN, 12);
      expect(here.confusion.reduce((sum, { count }) => sum + count, 0)).toBe(here.n);
      for (const { truePositives, falsePositives, falseNegatives, trueNegatives } of here.byLabel) {
        expect(truePositives + falsePositives + falseNegatives + trueNegatives).toBe(here.n);
      }
    }
  });
});

describe("gold", () => {
  function said(itemId: string, by: string, label: string, over: Partial<GoldJudgment> = {}): GoldJudgment {
    return { itemId, by, label, kind: "person", adjudicated: false, at: "2026-03-01T00:00:00Z", ...over };
  }

  test("is what people say, never what agents or programs do", () => {
    const gold = goldOf([
      said("i", "ana", "pass"),
      said("i", "bot", "fail", { kind: "agent" }),
      said("i", "check", "fail", { kind: "code" }),
      said("j", "bot", "pass", { kind: "agent", adjudicated: true }),
    ]);
    expect(gold).toEqual({ items: [{ itemId: "i", gold: "pass" }], disputed: [] });
  });

  test("is what was adjudicated, whoever else said what, and the newest of that", () => {
    const gold = goldOf([
      said("i", "ana", "pass"),
      said("i", "ben", "pass", { at: "2026-05-01T00:00:00Z" }),
      said("i", "ada", "fail", { adjudicated: true, at: "2026-04-01T00:00:00.5Z" }),
      said("i", "ada", "pass", { adjudicated: true, at: "2026-04-01T00:00:00Z" }),
    ]);
    expect(gold.items).toEqual([{ itemId: "i", gold: "fail" }]);
  });

  test("is what more than half say, of each the newest; else the item is disputed and gold for nothing", () => {
    const gold = goldOf([
      said("split", "ana", "pass"),
      said("split", "ben", "fail"),
      said("most", "ana", "pass"),
      said("most", "ben", "fail"),
      said("most", "cy", "fail"),
      said("changed", "ana", "fail", { at: "2026-01-01T00:00:00Z" }),
      said("changed", "ana", "pass"),
    ]);
    expect(gold.items).toEqual([
      { itemId: "changed", gold: "pass" },
      { itemId: "most", gold: "fail" },
    ]);
    expect(gold.disputed).toEqual(["split"]);
  });
});
