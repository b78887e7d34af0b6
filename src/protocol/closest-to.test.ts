import { expect, test } from "vitest";
import { closestTo } from "./closest-to.ts";

test("the name that was probably meant is found, also with two letters swapped", () => {
  expect(closestTo("greeitng", ["name", "greeting", "language"])).toBe("greeting");
  expect(closestTo("greeting", ["name", "language"])).toBeUndefined();
});

test("names that are long and many are compared up to a limit, so that a request with such a name costs little", () => {
  const given = `${"b".repeat(255)}c`;
  const near = "b".repeat(256);
  const others = Array.from({ length: 999 }, (_, i) => `${"a".repeat(252)}${i}`);
  expect(closestTo(given, [near, ...others])).toBe(near);
  expect(closestTo(given, [...others, near])).toBeUndefined();
});
