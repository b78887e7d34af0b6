import { describe, expect, test } from "vitest";
import type { SafetyFinding } from "../../protocol/agents/api.ts";
import { evalSuite, goldenTask, rubricTask } from "../../testing/suite-builders.ts";
import { tasksOfModes } from "../run/chosen-modes.ts";
import { DEFAULT_PASS_SCORE, rubricScore, taskBar, taskPasses } from "./task-bar.ts";

describe("the bar of a task", () => {
  test("is 1 for a golden task, whatever the suite asks of the mean", () => {
    expect(taskBar(goldenTask("a"), { passScore: 0.5 })).toBe(1);
    expect(taskPasses(2 / 3, taskBar(goldenTask("a"), { passScore: 0.5 }))).toBe(false);
    expect(taskPasses(1, 1)).toBe(true);
  });

  test("is that of the suite for a rubric, or the one of the host", () => {
    expect(taskBar(rubricTask("a"), { passScore: 0.5 })).toBe(0.5);
    expect(taskBar(rubricTask("a"))).toBe(DEFAULT_PASS_SCORE);
    expect(taskBar(rubricTask("a"), { passScore: 0 })).toBe(0);
  });

  test("is met in spite of how sums of weights are rounded", () => {
    expect(0.1 + 0.7).toBeLessThan(0.8);
    expect(taskPasses(0.1 + 0.7, 0.8)).toBe(true);
    expect(taskPasses(0.7999, 0.8)).toBe(false);
  });

  test.each([
    ["low", true],
    ["medium", true],
    ["high", false],
    ["critical", false],
  ] as const)("with a finding of %s severity leaves passing %s", (severity, passes) => {
    const findings: SafetyFinding[] = [{ kind: "other", severity }];
    expect(taskPasses(1, 1, findings)).toBe(passes);
  });
});

describe("the score of a rubric", () => {
  const rubric = (...weights: number[]) => weights.map((weight, i) => ({ criterion: `c${i}`, weight }));

  test("is the weight of what is met, as a part of all weight", () => {
    expect(rubricScore(rubric(0.75, 0.25), [true, false])).toBe(0.75);
    expect(rubricScore(rubric(0.5, 0.5, 1), [true, false, true])).toBe(0.75);
    expect(rubricScore(rubric(0.1, 0.2, 0.3), [true, true, true])).toBe(1);
    expect(rubricScore(rubric(0.1, 0.2, 0.3), [false, false, false])).toBe(0);
  });

  test("needs an answer for each criterion, and some weight", () => {
    expect(() => rubricScore(rubric(1, 1), [true])).toThrow(RangeError);
    expect(() => rubricScore(rubric(0), [true])).toThrow(RangeError);
  });
});

test("modes take the tasks that they are for, each once and in order", () => {
  const suite = evalSuite({ modes: ["regression"], tasks: [goldenTask("a"), rubricTask("b"), goldenTask("c")] });
  const ids = (...modes: Parameters<typeof tasksOfModes>[1]) => tasksOfModes(suite, modes).map(({ taskId }) => taskId);
  expect(ids("golden")).toEqual(["a", "c"]);
  expect(ids("rubric")).toEqual(["b"]);
  expect(ids("rubric", "golden")).toEqual(["a", "b", "c"]);
  for (const mode of ["adversarial", "regression", "live-shadow"] as const) expect(ids(mode)).toEqual(["a", "b", "c"]);
  expect(ids()).toEqual([]);
});
