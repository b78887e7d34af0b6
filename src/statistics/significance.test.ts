import { describe, expect, test } from "vitest";
import { pick, randomFrom } from "../testing/random-workflow.ts";
import { bootstrapMean, indexScale, Random } from "./bootstrap.ts";
import { holm, mcnemar, signFlipTest, tasksNeeded } from "./significance.ts";

const WORKED = [0.2, 0.1, 0, 0.3, -0.1, 0.2, 0.15, 0.05];

describe("McNemar's exact test", () => {
  test.each([
    [10, 2, 0.0386],
    [6, 0, 0.03125],
    [5, 5, 1],
    [1, 0, 1],
    [0, 0, 1],
  ])("of %i lost and %i gained gives %f", (lost, gained, p) => {
    expect(mcnemar(lost, gained)).toBeCloseTo(p, 4);
  });

  test("is the same for what is lost and what is gained, and falls as the split grows uneven", () => {
    for (let changed = 1; changed <= 60; changed++) {
      let before = 0;
      for (let lost = 0; lost <= changed / 2; lost++) {
        const p = mcnemar(lost, changed - lost);
        expect(p).toBe(mcnemar(changed - lost, lost));
        expect(p).toBeGreaterThan(before);
        expect(p).toBeLessThanOrEqual(1);
        before = p === 1 ? 0 : p;
      }
    }
  });

  test("is exact where a power of two is too large for a number", () => {
    // From the exact fraction, by another program.
    expect(mcnemar(4800, 5200) / 6.593515598672442e-5).toBeCloseTo(1, 12);
    expect(mcnemar(4950, 5050) / 0.322174199795312).toBeCloseTo(1, 12);
    expect(mcnemar(5000, 5000)).toBe(1);
    expect(mcnemar(1000, 0) / 2 ** -999).toBeCloseTo(1, 12);
  });

  test("is never 0, though it may be smaller than any number", () => {
    expect(mcnemar(5000, 0)).toBeGreaterThan(0);
  });
});

describe("the sign-flip test", () => {
  test("is the worked one: 16 of 256 flips", () => {
    expect(signFlipTest(WORKED, 1)).toEqual({ test: "sign_flip", p: 0.0625, flips: 256, extreme: 16, all: true });
  });

  test("counts sums that are equal on paper as equal", () => {
    // 0.1 + 0.2 - 0.3 + 0.6 is not the number that -0.1 - 0.2 + 0.3 + 0.6 is. Five of eight and their mirror images reach 0.6.
    expect(signFlipTest([0.1, 0.2, -0.3, 0.6], 1)).toMatchObject({ flips: 16, extreme: 10 });
    expect(signFlipTest([-0.1, -0.2, 0.3, 0.6], 1)).toMatchObject({ flips: 16, extreme: 10 });
    expect(signFlipTest([0.1, 0.2, -0.3], 1).p).toBe(1);
  });

  test("tries every flip of up to 16 tasks that changed, however many did not", () => {
    const few = signFlipTest([...WORKED, ...Array.from({ length: 500 }, () => 0)], 1);
    expect(few).toEqual({ test: "sign_flip", p: 0.0625, flips: 128, extreme: 8, all: true });
    const sixteen = Array.from({ length: 16 }, () => 0.5);
    expect(signFlipTest(sixteen, 1)).toMatchObject({ p: 2 / 65536, flips: 65536, all: true });
  });

  test("draws 10,000 flips of more than that, adds one to both counts, and records the seed", () => {
    const drawn = signFlipTest(
      Array.from({ length: 40 }, () => 0.5),
      9,
    );
    expect(drawn).toEqual({ test: "sign_flip", p: 1 / 10_001, flips: 10_000, extreme: 0, all: false, seed: 9 });
  });

  test("of differences of one size comes near McNemar's test, which it then is", () => {
    for (const [lost, gained] of [
      [30, 20],
      [24, 16],
      [60, 35],
      [20, 19],
    ] as const) {
      const differences = [...Array(lost).fill(-1), ...Array(gained).fill(1)];
      const exact = mcnemar(lost, gained);
      const error = Math.sqrt((exact * (1 - exact)) / 10_000);
      expect(Math.abs((signFlipTest(differences, 5).p ?? 0) - exact)).toBeLessThan(4 * error + 2e-4);
    }
  });

  test("does not depend on the order of tasks, nor on which side is the candidate", () => {
    const random = randomFrom(3);
    for (const count of [1, 5, 12, 17, 33, 70]) {
      const differences = Array.from({ length: count }, () => Math.round(random() * 20 - 10) / 10);
      const p = signFlipTest(differences, 11);
      expect(signFlipTest(differences.toReversed(), 11)).toEqual(p);
      expect(
        signFlipTest(
          differences.map((difference) => -difference),
          11,
        ),
      ).toEqual(p);
      expect(p.p).toBeGreaterThan(0);
      expect(p.p).toBeLessThanOrEqual(1);
    }
  });

  test("is certain to be chance where nothing changed, and undefined without tasks", () => {
    expect(signFlipTest(Array(100).fill(0), 1)).toMatchObject({ p: 1, flips: 1, all: true });
    expect(signFlipTest([], 1)).toMatchObject({ p: null, reason: "nothing_counted" });
  });
});

describe("the bootstrap of a mean", () => {
  test("is decided by its seed", () => {
    expect(bootstrapMean(WORKED, 1)).toEqual(bootstrapMean(WORKED, 1));
    expect(bootstrapMean(WORKED, 1)).not.toEqual(bootstrapMean(WORKED, 2));
    expect(bootstrapMean(WORKED.toReversed(), 1)).toEqual(bootstrapMean(WORKED, 1));
  });

  test("comes near the interval that all resamples have", () => {
    // Of three values there are 27 resamples; 2.5 % of them lie below a mean of 0 and 97.5 % below one of 1.
    const values = [0, 0.3, 1];
    const all = values.flatMap((a) => values.flatMap((b) => values.map((c) => (a + b + c) / 3))).sort((a, b) => a - b);
    const interval = bootstrapMean(values, 4);
    expect(interval?.low).toBeCloseTo(all[0] as number, 12);
    expect(interval?.high).toBeCloseTo(all[26] as number, 12);
  });

  test("comes near the normal interval of many values", () => {
    const random = randomFrom(8);
    const values = Array.from({ length: 900 }, () => random());
    const mean = values.reduce((sum, value) => sum + value, 0) / 900;
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 900);
    const interval = bootstrapMean(values, 2);
    expect(interval?.low).toBeCloseTo(mean - (1.96 * deviation) / 30, 2);
    expect(interval?.high).toBeCloseTo(mean + (1.96 * deviation) / 30, 2);
    expect((interval?.high ?? 0) - (interval?.low ?? 0)).toBeCloseTo((2 * 1.96 * deviation) / 30, 2);
  });

  test("lies around the mean and inside the range of the values, moves with them, and has no width when they are alike", () => {
    const random = randomFrom(21);
    for (const count of [1, 2, 7, 40]) {
      const values = Array.from({ length: count }, () => pick(random, [-1, 0, 0.25, 1]));
      const mean = values.reduce((sum, value) => sum + value, 0) / count;
      const { low, high } = bootstrapMean(values, 6) ?? { low: Number.NaN, high: Number.NaN };
      expect(low).toBeLessThanOrEqual(mean + 1e-12);
      expect(high).toBeGreaterThanOrEqual(mean - 1e-12);
      expect(low).toBeGreaterThanOrEqual(Math.min(...values));
      expect(high).toBeLessThanOrEqual(Math.max(...values));
      const moved = bootstrapMean(
        values.map((value) => value + 2),
        6,
      );
      expect(moved?.low).toBeCloseTo(low + 2, 9);
      expect(moved?.high).toBeCloseTo(high + 2, 9);
    }
    expect(bootstrapMean(Array(9).fill(0.1), 1)).toEqual({ low: 0.1, high: 0.1 });
    expect(bootstrapMean([], 1)).toBeNull();
  });
});

describe("the generator", () => {
  test("gives the same words for a seed, however they are asked for", () => {
    const once = new Uint32Array(8);
    new Random(42).fill(once);
    const random = new Random(42);
    const parts = [3, 5].flatMap((length) => {
      const words = new Uint32Array(length);
      random.fill(words);
      return [...words];
    });
    expect(parts).toEqual([...once]);
    const other = new Uint32Array(8);
    new Random(43).fill(other);
    expect([...other]).not.toEqual([...once]);
  });

  test("reaches every index about equally often, and none beyond", () => {
    const words = new Uint32Array(70_000);
    new Random(0).fill(words);
    const counts = new Array(7).fill(0);
    for (const word of words) counts[Math.trunc(word * indexScale(7))]++;
    expect(counts).toHaveLength(7);
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(400);
    expect(Math.trunc(0xffffffff * indexScale(7))).toBe(6);
  });
});

describe("Holm's step-down", () => {
  test("raises the smallest p-value most, and never lets a larger one fall below it", () => {
    const adjusted = holm([0.01, 0.04, 0.03, 0.005]);
    [0.03, 0.06, 0.06, 0.02].forEach((p, i) => {
      expect(adjusted[i]).toBeCloseTo(p, 12);
    });
  });

  test("leaves a single one as it is, stops at 1, and does not count tests without a p-value", () => {
    expect(holm([0.03])).toEqual([0.03]);
    expect(holm([0.6, 0.9])).toEqual([1, 1]);
    expect(holm([null, 0.03])).toEqual([null, 0.03]);
    expect(holm([])).toEqual([]);
  });

  test("keeps the order of the p-values and is at least each of them", () => {
    const random = randomFrom(5);
    for (let round = 0; round < 50; round++) {
      const pValues = Array.from({ length: 1 + Math.floor(random() * 8) }, () => random());
      const adjusted = holm(pValues) as number[];
      pValues.forEach((p, i) => {
        expect(adjusted[i]).toBeGreaterThanOrEqual(p);
        pValues.forEach((other, j) => {
          if (p < other) expect(adjusted[i]).toBeLessThanOrEqual(adjusted[j] as number);
        });
      });
    }
  });
});

describe("the number of tasks that would settle it", () => {
  test("is the worked one", () => {
    expect(tasksNeeded(0.2, 0.1)).toEqual({ value: 155, discordance: 0.2, power: 0.8 });
  });

  test("grows with the discordance and with a finer margin", () => {
    expect(tasksNeeded(0.3, 0.1).value).toBeGreaterThan(155);
    expect(tasksNeeded(0.2, 0.05).value).toBeGreaterThan(155);
  });

  test("is undefined where nothing changed, or less than the margin can come from", () => {
    expect(tasksNeeded(0, 0.1)).toMatchObject({ value: null, reason: "no_discordance" });
    expect(tasksNeeded(0.001, 0.05)).toMatchObject({ value: null, reason: "discordance_below_margin" });
  });
});
