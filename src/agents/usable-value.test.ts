import { expect, test } from "vitest";
import { usable } from "./usable-value.ts";

function nested(levels: number): unknown {
  return JSON.parse(`${"[".repeat(levels)}1${"]".repeat(levels)}`);
}

test("a value may be nested 64 levels deep and no deeper", () => {
  expect(usable(nested(64))).toEqual({ value: nested(64) });
  expect(usable(nested(65))).toEqual({ problem: "is nested more than 64 levels deep" });
  expect(usable(nested(100_000))).toEqual({ problem: "is nested more than 64 levels deep" });
});
