import { describe, expect, test } from "vitest";
import { type Evidence, rulingOf, VERDICT_OF } from "./verdict.ts";

const limits = { alpha: 0.05, margin: 0.05 };

function evidence(over: Partial<Evidence>): Evidence {
  return { pairs: 100, delta: 0, p: 1, interval: { low: -0.1, high: 0.1 }, ...over };
}

describe("the verdict", () => {
  test.each<[string, string, Partial<Evidence>]>([
    ["not_enough_data", "too_few_pairs", { pairs: 4, p: 0.001, delta: -0.5 }],
    ["regressed", "regressed", { pairs: 5, p: 0.049, delta: -0.01, interval: { low: -0.02, high: 0 } }],
    ["improved", "improved", { p: 0.049, delta: 0.01, interval: { low: 0, high: 0.02 } }],
    ["noise", "within_margin", { p: 0.1, delta: -0.01, interval: { low: -0.05, high: 0.05 } }],
    ["suspect", "suspect", { p: 0.05, delta: -0.03, interval: { low: -0.07, high: 0 } }],
    ["suspect", "suspect", { p: 0.199, delta: -0.03, interval: { low: -0.07, high: 0 } }],
    ["not_enough_data", "loss_possible", { p: 0.2, delta: -0.03, interval: { low: -0.07, high: 0 } }],
    ["not_enough_data", "loss_possible", { p: 0.1, delta: 0.03, interval: { low: -0.06, high: 0.2 } }],
    ["noise", "noise", { p: 0.06, delta: 0.1, interval: { low: -0.05, high: 0.2 } }],
    ["noise", "noise", { p: 0.05, delta: 0.1, interval: { low: -0.05, high: 0.2 } }],
  ])("is %s by the row %s", (verdict, ruling, over) => {
    const row = rulingOf(evidence(over), limits);
    expect(row).toBe(ruling);
    expect(VERDICT_OF[row]).toBe(verdict);
  });

  test("is not to be had without figures", () => {
    expect(rulingOf(null, limits)).toBe("too_few_pairs");
  });

  test("follows the level and margin that were asked for", () => {
    const loss = evidence({ p: 0.03, delta: -0.04, interval: { low: -0.08, high: -0.01 } });
    expect(rulingOf(loss, limits)).toBe("regressed");
    expect(rulingOf(loss, { alpha: 0.01, margin: 0.05 })).toBe("suspect");
    expect(rulingOf(loss, { alpha: 0.01, margin: 0.1 })).toBe("within_margin");
  });

  test("never gets better when, all else equal, the difference gets worse", () => {
    const worstFirst = ["regressed", "suspect", "not_enough_data", "noise", "improved"];
    for (const p of [0.001, 0.05, 0.1, 0.2, 0.7]) {
      for (const width of [0.02, 0.09, 0.3]) {
        let before = 0;
        for (let step = -100; step <= 100; step++) {
          const delta = step / 200;
          const ruling = rulingOf(
            evidence({ p, delta, interval: { low: delta - width, high: delta + width } }),
            limits,
          );
          // At 0 no side is the better one, whatever p is.
          if (p < limits.alpha && delta === 0) continue;
          const rank = worstFirst.indexOf(VERDICT_OF[ruling]);
          expect(rank).toBeGreaterThanOrEqual(before);
          before = rank;
        }
      }
    }
  });
});
