import { describe, expect, test } from "vitest";
import { wilson } from "./wilson.ts";

describe("the Wilson interval of a share", () => {
  // Newcombe, Statistics in Medicine 17 (1998), table I.
  test.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])("for %i of %i it is the published one", (successes, count, low, high) => {
    const interval = wilson(successes, count);
    expect(interval?.low).toBeCloseTo(low, 4);
    expect(interval?.high).toBeCloseTo(high, 4);
  });

  test("reaches 0 when there was no success, and 1 when there was nothing else", () => {
    expect(wilson(0, 7)?.low).toBe(0);
    expect(wilson(7, 7)?.high).toBe(1);
  });

  test("mirrors when successes and failures change places", () => {
    for (let successes = 0; successes <= 13; successes++) {
      expect(wilson(successes, 13)?.low).toBeCloseTo(1 - (wilson(13 - successes, 13)?.high ?? Number.NaN), 12);
    }
  });

  test("is undefined when nothing was counted", () => {
    expect(wilson(0, 0)).toBeNull();
  });
});
