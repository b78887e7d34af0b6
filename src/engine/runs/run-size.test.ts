import { expect, test } from "vitest";
import { isSmall, jsonBytes, mayTake, sizeOf } from "./run-size.ts";

const TEXTS = ["\u0001".repeat(1000), '"'.repeat(1000), "ä".repeat(1000), "語".repeat(1000), "a".repeat(1000)];

test("a value is counted as long as its JSON is in bytes, escapes included", () => {
  for (const text of TEXTS) {
    const bytes = Buffer.byteLength(JSON.stringify(text));
    expect(Math.abs(jsonBytes(text) - bytes)).toBeLessThanOrEqual(2);
  }
});

test("names of members, objects, lists and texts weigh more than their bytes, and long texts and numbers do not", () => {
  const names = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, 0]));
  expect(sizeOf(names) - jsonBytes(names)).toBe(100 * 64 + 24);
  const parts = [{}, [], "text", 1, true, null];
  expect(sizeOf(parts) - jsonBytes(parts)).toBe(4 * 24);
  for (const text of TEXTS) expect(sizeOf(text) - jsonBytes(text)).toBe(24);
});

test("a run takes what fits, and one that is too large already takes what is small", () => {
  expect([mayTake(90_000, 10_000, 100_000), mayTake(90_000, 10_001, 100_000)]).toEqual([true, false]);
  expect([mayTake(100_001, 16_000, 100_000), mayTake(100_001, 17_000, 100_000)]).toEqual([true, false]);
});

test("a small value that names a large part again and again is not counted to its end", () => {
  let value: unknown = "x";
  // Counted to its end it would take as long as 2 to the power of 200 parts.
  for (let i = 0; i < 200; i++) value = [value, value];
  expect(sizeOf(value, 1000)).toBeGreaterThan(1000);
});

test.each<[string, unknown]>([
  ["a text", "x".repeat(600)],
  ["a text of control characters", "\u0001".repeat(100)],
  ["a list", Array.from({ length: 100 }, () => "four")],
  ["an object", Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`member-${i}`, { value: i }]))],
])("%s is small up to the bytes that are counted for it, and not beyond", (_, value) => {
  const bytes = jsonBytes(value);
  expect([isSmall(value, bytes), isSmall(value, bytes * 10), isSmall(value, bytes - 1)]).toEqual([true, true, false]);
});
