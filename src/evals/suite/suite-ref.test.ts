import { describe, expect, test } from "vitest";
import { compareVersions, parseSuiteRef, refText } from "./suite-ref.ts";

describe("a reference to a suite", () => {
  test("is an id with or without a version", () => {
    const ref = { suiteId: "acme.support.evals.refunds", version: "1.20.3" };
    expect(parseSuiteRef(refText(ref))).toEqual(ref);
    expect(parseSuiteRef(ref.suiteId)).toEqual({ suiteId: ref.suiteId });
  });

  test.each([
    "",
    "refunds",
    "a.evals.b@",
    "a.evals.b@1",
    "a.evals.b@1.0.0@1.0.0",
    "A.evals.b",
    "a.evals.b@1.0.0-rc",
    `a.evals.${"b".repeat(400)}`,
  ])("is nothing else: %.40s", (text) => {
    expect(() => parseSuiteRef(text)).toThrow("a suite is named like");
  });
});

test("versions are compared number by number", () => {
  const sorted = [
    "0.0.9",
    "0.0.10",
    "0.2.0",
    "1.0.0",
    "10.0.0",
    "99999999999999999999.0.0",
    "99999999999999999999.0.1",
  ];
  expect(sorted.toReversed().sort(compareVersions)).toEqual(sorted);
  expect(compareVersions("1.0.0", "1.0.0")).toBe(0);
});
