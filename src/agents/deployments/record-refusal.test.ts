import { expect, test } from "vitest";
import { RecentRefusals } from "./record-refusal.ts";

test("a refusal is told once in a minute, and again after that", () => {
  const refusals = new RecentRefusals();
  refusals.keep("ada wants 1.0.0", "run-1", 1_000);
  expect(refusals.find("ada wants 1.0.0", 1_000)).toBe("run-1");
  expect(refusals.find("ada wants 1.0.0", 60_999)).toBe("run-1");
  expect(refusals.find("ada wants 1.0.0", 61_000)).toBeUndefined();
  expect(refusals.find("bob wants 1.0.0", 1_000)).toBeUndefined();
  // A clock that was set back tells nothing.
  expect(refusals.find("ada wants 1.0.0", 999)).toBeUndefined();
});
