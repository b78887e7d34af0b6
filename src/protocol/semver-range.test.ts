import { describe, expect, test } from "vitest";
import { inRange } from "./semver-range.ts";

describe("a version", () => {
  test.each([
    ["1.1.0", ">=1.0 <2.0.0", true],
    ["2.0.0", ">=1.0 <2.0.0", false],
    ["1.1.0", ">= 1.0 < 2", true],
    ["1.1.0", "*", true],
    ["1.1.0", "", true],
    ["1.1.0", "1", true],
    ["1.1.0", "1.x", true],
    ["2.1.0", "1.x", false],
    ["1.1.0", "1.1", true],
    ["1.1.0", "1.1.0", true],
    ["1.1.0", "=1.1.1", false],
    ["1.1.0", "^1.0.0", true],
    ["2.0.0", "^1.0.0", false],
    ["0.3.0", "^0.2.1", false],
    ["0.2.9", "^0.2.1", true],
    ["1.1.0", "~1.1", true],
    ["1.2.0", "~1.1", false],
    ["1.9.0", "~1", true],
    ["1.1.0", ">1", false],
    ["2.0.0", ">1", true],
    ["1.1.0", ">1.0.9", true],
    ["1.1.0", "<=1", true],
    ["1.1.0", "<=1.0.9", false],
    ["1.1.0", "0.9 || ^1.1", true],
    ["1.1.0", "0.9 || ^2", false],
    ["1.1.0", "latest", undefined],
    ["1.1.0", ">=1.0 and more", undefined],
    ["1.1.0", "1 - 2", undefined],
  ] as const)("%s and the range %j: %s", (version, range, expected) => {
    expect(inRange(version, range)).toBe(expected);
  });
});
