import { expect, test } from "vitest";
import type { AppError } from "../../protocol/errors.ts";
import type { EvidenceCoverage } from "../../protocol/promotion/evidence.ts";
import { goldenTask, suiteOf } from "../../testing/eval-bench.ts";
import { checkCoverage } from "./coverage.ts";

const suite = suiteOf([goldenTask("a", 1, 1)], { modes: ["golden", "rubric"] });

test.each<[string, EvidenceCoverage, string]>([
  ["a mode that the suite does not declare", { modes: ["adversarial"] }, "does not declare"],
  ["a mode without tasks, which any evaluation would meet", { modes: ["rubric"] }, "no task of suite"],
  ["a task that the suite does not have", { tasks: ["z"] }, "does not have"],
  ["a task that none of its modes has", { modes: ["rubric"], tasks: ["a"] }, "none of the modes"],
])("evidence cannot ask for %s", (_, coverage, problem) => {
  const refused = () => {
    try {
      checkCoverage(suite, coverage);
    } catch (error) {
      return String((error as AppError).details["problem"]);
    }
    return "";
  };
  expect(refused()).toContain(problem);
});

test("evidence can ask for modes and tasks of the suite", () => {
  expect(() => checkCoverage(suite, { modes: ["golden"], tasks: ["a"] })).not.toThrow();
});
