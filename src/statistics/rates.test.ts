import { describe, expect, test } from "vitest";
import { Estimate, Rate } from "../protocol/evals/eval-statistics.ts";
import { matches } from "../protocol/schema.ts";
import { correctedRate, isFlaky, meanOf, meanOverTasks, passAtK, passHatK, share } from "./rates.ts";

describe("pass@k and pass^k", () => {
  test("are the worked ones", () => {
    expect(passAtK(10, 3, 5).value).toBeCloseTo(0.9167, 4);
    expect(passHatK(10, 8, 3).value).toBeCloseTo(0.4667, 4);
  });

  test("are the shares of all ways to choose k of the trials that pass", () => {
    for (let n = 1; n <= 7; n++) {
      for (let c = 0; c <= n; c++) {
        for (let k = 1; k <= n; k++) {
          const chosen = waysToChoose(n, k).map((trials) => trials.map((trial) => trial < c));
          const some = chosen.filter((passes) => passes.includes(true)).length / chosen.length;
          const all = chosen.filter((passes) => !passes.includes(false)).length / chosen.length;
          expect(passAtK(n, c, k).value).toBeCloseTo(some, 12);
          expect(passHatK(n, c, k).value).toBeCloseTo(all, 12);
        }
      }
    }
  });

  test("stay numbers between 0 and 1 where the binomials are none", () => {
    const value = passAtK(5000, 1, 2500).value;
    expect(value).toBeCloseTo(0.5, 9);
    expect(passHatK(5000, 4999, 2500).value).toBeCloseTo(0.5, 9);
    expect(passHatK(5, 1, 3).value).toBe(0);
  });

  test("need at least k trials, and are undefined with a reason otherwise", () => {
    for (const rate of [passAtK(2, 1, 3), passHatK(2, 1, 3), passAtK(0, 0, 1), passAtK(3, 1, 0)]) {
      expect(rate).toMatchObject({ value: null, reason: "fewer_trials_than_k" });
      expect(matches(Rate, rate)).toBe(true);
    }
    expect(passAtK(2, 1, 3).count).toBe(2);
  });

  test("a task is flaky when some trials pass and some do not", () => {
    expect([isFlaky(3, 0), isFlaky(3, 1), isFlaky(3, 2), isFlaky(3, 3), isFlaky(0, 0)]).toEqual([
      false,
      true,
      true,
      false,
      false,
    ]);
  });
});

describe("a rate corrected for an imperfect judge", () => {
  const judge = { sensitivity: 0.95, specificity: 0.9 };

  test("is the worked one, with the count of the observed one", () => {
    const rate = correctedRate({ value: 0.8, count: 40 }, judge);
    expect(rate.value).toBeCloseTo(0.8235, 4);
    expect(rate.count).toBe(40);
  });

  test("stays between 0 and 1", () => {
    expect(correctedRate({ value: 0.02, count: 9 }, judge).value).toBe(0);
    expect(correctedRate({ value: 0.99, count: 9 }, judge).value).toBe(1);
  });

  test("is undefined for a judge that tells nothing, or the opposite, and when nothing was observed", () => {
    for (const [sensitivity, specificity] of [
      [0.7, 0.3],
      [0.1, 0.9],
      [0.2, 0.3],
    ] as const) {
      const rate = correctedRate({ value: 0.5, count: 9 }, { sensitivity, specificity });
      expect(rate).toEqual({ value: null, reason: "judge_no_better_than_chance", count: 9 });
    }
    expect(correctedRate({ value: 0, count: 0 }, judge)).toEqual({ value: null, reason: "nothing_counted", count: 0 });
  });
});

describe("a mean over tasks", () => {
  test("has its count and the interval of the resampled tasks, with the seed it was made with", () => {
    const mean = meanOverTasks([0.2, 0.4, 0.6, 0.8], 7);
    expect(mean).toMatchObject({ count: 4, interval: { method: "bootstrap", seed: 7 } });
    expect(mean.value).toBeCloseTo(0.5, 12);
    expect(mean.interval?.low).toBeLessThan(0.5);
    expect(mean.interval?.high).toBeGreaterThan(0.5);
    expect(matches(Estimate, mean)).toBe(true);
  });

  test("of zeros and ones is a share of tasks, which leaves something open also where all are alike", () => {
    expect(meanOverTasks([1, 1, 0, 1], 7)).toEqual(share(3, 4));
    const all = meanOverTasks([1, 1, 1, 1, 1], 7);
    expect(all).toMatchObject({ value: 1, count: 5, interval: { high: 1, method: "wilson" } });
    expect(all.interval?.low).toBeCloseTo(0.5655, 4);
  });

  test("of scores that are all alike has no interval, since one of no width would claim certainty", () => {
    const mean = meanOverTasks([0.7, 0.7, 0.7], 7);
    expect(mean).toEqual({ value: 0.7, count: 3, interval: null, intervalReason: "no_variation" });
  });

  test("of nothing is undefined", () => {
    const none = meanOverTasks([], 7);
    expect(none).toMatchObject({ value: null, reason: "nothing_counted", count: 0, interval: null });
    expect(share(0, 0)).toEqual(none);
  });

  test("does not depend on the order of the tasks, not in the last digit", () => {
    expect(meanOf([0.1, 0.2, 0.3, 0.7])).toBe(meanOf([0.7, 0.3, 0.1, 0.2]));
    expect(meanOverTasks([0.1, 0.9, 0.4], 3)).toEqual(meanOverTasks([0.4, 0.1, 0.9], 3));
  });
});

function waysToChoose(n: number, k: number): number[][] {
  if (k === 0) return [[]];
  if (n < k) return [];
  return [...waysToChoose(n - 1, k), ...waysToChoose(n - 1, k - 1).map((ways) => [...ways, n - 1])];
}
