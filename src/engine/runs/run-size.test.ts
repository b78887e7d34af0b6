import { expect, test } from "vitest";
import { isSmall, sizeOf } from "./run-size.ts";

test("a value is counted as long as its JSON is in bytes, escapes included", () => {
  for (const text of ["\u0001".repeat(1000), '"'.repeat(1000), "ä".repeat(1000), "語".repeat(1000), "a".repeat(1000)]) {
    const bytes = Buffer.byteLength(JSON.stringify(text));
    expect(Math.abs(sizeOf(text) - bytes)).toBeLessThanOrEqual(2);
  }
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
  const bytes = sizeOf(value);
  expect([isSmall(value, bytes), isSmall(value, bytes * 10), isSmall(value, bytes - 1)]).toEqual([true, true, false]);
});
