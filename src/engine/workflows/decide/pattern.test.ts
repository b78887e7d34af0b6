import { describe, expect, test } from "vitest";
import { compilePattern, patternSize } from "./pattern.ts";

describe("the size of a pattern, before it is compiled,", () => {
  test.each([
    ["^[a-z0-9._%+-]+@[a-z0-9.-]+\\.[a-z]{2,24}$"],
    ["(a{0,31}){0,31}"],
    ["(?:(?:a{10}){10}){10}"],
    ["(?:(?:a{0,31}){0,31})(?:(?:a{0,31}){0,31})"],
    ["a|b|[^]x]{3,5}|\\x{41}{20}|[[:alpha:]]{9}"],
    ["(((((x{2}){3}){4}){5}){6})?"],
    ["\\pL{100}|\\p{Greek}{50}"],
    ["^[\\p{L}\\p{N} .'-]{1,1000}$"],
    ["(?i:straße){40,}"],
  ])("is not below that of its program: %s", (source) => {
    const { states } = compilePattern(source);
    expect(patternSize(source)).toBeGreaterThanOrEqual(states / 2);
    expect(patternSize(source)).toBeLessThan(states * 40);
  });

  test("is known for patterns that are far too large", () => {
    expect(patternSize("(?:(?:a{0,31}){0,31})".repeat(100))).toBeGreaterThan(90_000);
    expect(patternSize("(?i)\\pL".repeat(20_000))).toBeGreaterThan(900_000);
    expect(patternSize("x".repeat(900_000))).toBe(900_000);
    expect(patternSize("(".repeat(100_000))).toBeLessThan(100_000);
  });
});
