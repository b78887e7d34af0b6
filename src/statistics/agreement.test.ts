import { describe, expect, test } from "vitest";
import { pick, randomFrom } from "../testing/random-workflow.ts";
import type { Value } from "./agreement.ts";
import { cohenKappa, METRICS, type Metric, tallied } from "./agreement.ts";

const fleissKappa = (units: readonly (readonly Value[])[]) => tallied(units).fleissKappa();
const krippendorffAlpha = (units: readonly (readonly Value[])[], metric: Metric) =>
  tallied(units).krippendorffAlpha(metric);

function times<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value);
}

describe("Cohen's kappa", () => {
  const pairs = [
    ...times(20, ["yes", "yes"] as const),
    ...times(5, ["yes", "no"] as const),
    ...times(10, ["no", "yes"] as const),
    ...times(15, ["no", "no"] as const),
  ];

  test("is the worked one, with its standard error and the interval that follows from it", () => {
    const kappa = cohenKappa(pairs);
    expect(kappa).toMatchObject({ items: 50, interval: { method: "standard_error" } });
    expect(kappa.observed).toBeCloseTo(0.7, 12);
    expect(kappa.expected).toBeCloseTo(0.5, 12);
    expect(kappa.value).toBeCloseTo(0.4, 12);
    expect(kappa.standardError).toBeCloseTo(0.1296, 4);
    expect(kappa.interval?.low).toBeCloseTo(0.4 - 1.96 * 0.1296, 3);
    expect(kappa.interval?.high).toBeCloseTo(0.4 + 1.96 * 0.1296, 3);
  });

  test("has no interval where the standard error is 0 and would claim certainty", () => {
    const agreed = cohenKappa([
      ["yes", "yes"],
      ["no", "no"],
    ]);
    expect(agreed).toMatchObject({ value: 1, standardError: 0, interval: null });
  });

  test("is undefined without common items, and where both only ever said one thing", () => {
    expect(cohenKappa([])).toMatchObject({ value: null, reason: "no_common_items", items: 0, interval: null });
    const same = cohenKappa(times(3, ["yes", "yes"] as const));
    expect(same).toMatchObject({ value: null, reason: "no_variation", observed: 1, standardError: null });
  });
});

describe("Fleiss' kappa", () => {
  // Fleiss, Psychological Bulletin 76 (1971): counts of five categories for ten items of fourteen ratings.
  const counts = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
  ];
  const units = counts.map((row) => row.flatMap((count, category) => times(count, `category ${category}`)));

  test("is the published one", () => {
    const kappa = fleissKappa(units);
    expect(kappa).toMatchObject({ items: 10, ratingsPerItem: 14 });
    expect(kappa.observed).toBeCloseTo(0.378, 3);
    expect(kappa.expected).toBeCloseTo(0.213, 3);
    expect(kappa.value).toBeCloseTo(0.21, 3);
  });

  test("is undefined when items have different numbers of ratings, or fewer than two, or there is one category", () => {
    expect(fleissKappa([...units, ["category 1"]])).toMatchObject({ value: null, reason: "unequal_counts" });
    expect(fleissKappa([["a"], ["b"]])).toMatchObject({ value: null, reason: "no_common_items" });
    expect(fleissKappa([])).toMatchObject({ value: null, reason: "no_common_items" });
    expect(fleissKappa([["a", "a"]])).toMatchObject({ value: null, reason: "no_variation" });
  });
});

describe("Krippendorff's alpha", () => {
  // Krippendorff, Computing Krippendorff's Alpha-Reliability (2011); 0 is a gap.
  const reviewers = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
  ];
  const units = times(12, 0).map((_, item) => reviewers.map((row) => row[item] ?? 0).filter((value) => value > 0));

  test.each([
    ["nominal", 0.743],
    ["ordinal", 0.815],
    ["interval", 0.849],
    ["ratio", 0.797],
  ] as const)("with the %s metric is the published one", (metric, value) => {
    const alpha = krippendorffAlpha(units, metric);
    expect(alpha).toMatchObject({ metric, items: 11, ratings: 40 });
    expect(alpha.value).toBeCloseTo(value, 3);
  });

  test("is undefined where no item has two judgments, and where there is one value only", () => {
    expect(krippendorffAlpha([[1], [2], []], "ordinal")).toMatchObject({ value: null, reason: "no_common_items" });
    for (const metric of METRICS) {
      expect(
        krippendorffAlpha(
          [
            [3, 3],
            [3, 3, 3],
          ],
          metric,
        ),
      ).toMatchObject({ value: null, reason: "no_variation" });
    }
  });
});

describe("whatever was judged", () => {
  const random = randomFrom(20_250_131);
  const value = () => 1 + Math.floor(random() * 4);
  const shuffled = <T>(list: readonly T[]): T[] =>
    list
      .map((one) => [random(), one] as const)
      .sort(([a], [b]) => a - b)
      .map(([, one]) => one);
  const tables = Array.from({ length: 60 }, () => {
    const perItem = 2 + Math.floor(random() * 4);
    return Array.from({ length: 2 + Math.floor(random() * 20) }, () => times(perItem, 0).map(value));
  });
  const figures = (units: readonly (readonly Value[])[]) => [
    cohenKappa(units.map(([a = 0, b = 0]) => [a, b])).value,
    fleissKappa(units).value,
    krippendorffAlpha(units, "nominal").value,
  ];
  const close = (one: readonly (number | null)[], other: readonly (number | null)[]) => {
    expect(one.length).toBe(other.length);
    one.forEach((figure, i) => {
      if (figure === null) expect(other[i]).toBeNull();
      else expect(other[i]).toBeCloseTo(figure, 9);
    });
  };

  test("neither the order of the items nor that of the reviewers matters", () => {
    for (const units of tables) {
      close(figures(units), figures(shuffled(units)));
      const turned = units.map((unit) => [...unit].reverse());
      const ofMany = (table: readonly (readonly number[])[]) => [
        fleissKappa(table).value,
        ...METRICS.map((metric) => krippendorffAlpha(table, metric).value),
      ];
      close(ofMany(units), ofMany(turned));
      const pairs = units.map(([a = 0, b = 0]) => [a, b] as const);
      close([cohenKappa(pairs).value], [cohenKappa(pairs.map(([a, b]) => [b, a])).value]);
    }
  });

  test("other names for the categories change nothing", () => {
    const names = ["", "bad", "fair", "good", "best"];
    for (const units of tables)
      close(figures(units), figures(units.map((unit) => unit.map((one) => names[one] ?? ""))));
  });

  test("full agreement is 1, unless there is nothing to tell it from", () => {
    for (const units of tables) {
      const agreed = units.map((unit) => times(unit.length, unit[0] ?? 0));
      const varied = new Set(agreed.flat()).size > 1;
      for (const figure of [...figures(agreed), ...METRICS.map((metric) => krippendorffAlpha(agreed, metric).value)]) {
        if (varied) expect(figure).toBeCloseTo(1, 12);
        else expect(figure).toBeNull();
      }
    }
  });

  test("no figure is above 1 or not a number", () => {
    for (const units of tables) {
      const gaps = units.map((unit) => unit.filter(() => pick(random, [true, true, false])));
      const all = [...figures(units), ...METRICS.map((metric) => krippendorffAlpha(gaps, metric).value)];
      for (const figure of all) if (figure !== null) expect(figure).toBeLessThanOrEqual(1 + 1e-12);
    }
  });
});
