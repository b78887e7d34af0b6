import { expect, test } from "vitest";
import { sizeOf } from "./run-size.ts";

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
