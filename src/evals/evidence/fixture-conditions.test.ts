import { expect, test } from "vitest";
import type { EvalMode } from "../../protocol/evals/eval-suite.ts";
import { goldenTask } from "../../testing/eval-bench.ts";
import type { TaskResult } from "../run/task-result.ts";
import { aboutSurroundings } from "./fixture-conditions.ts";

const TASK = { ...goldenTask("a", "in", "out"), fixtures: { toolResponses: [{ tool: "crm:find", response: 1 }] } };
const RESULT: TaskResult = { taskId: "a", score: 1, passed: true, bar: 1, latencyMs: 1, findings: [], trials: [] };

const conditionOf = (
  modes: EvalMode[],
  fixturesUnused: string[] | undefined,
  demand: Parameters<typeof aboutSurroundings>[3] = {},
  declared: EvalMode[] = ["golden", "live-shadow"],
) => {
  const result = fixturesUnused === undefined ? RESULT : { ...RESULT, fixturesUnused };
  return aboutSurroundings({ modes }, { modes: declared, tasks: [TASK] }, [result], demand)[0];
};
const LIVE = { evidence: { modes: ["golden" as const, "live-shadow" as const] } };

test("fixtures that were all used meet the condition", () => {
  expect(conditionOf(["golden"], [])).toMatchObject({ met: true, found: "those" });
});

test("fixtures that were never used do not, unless the policy allows it", () => {
  expect(conditionOf(["golden"], ["crm:find"])).toMatchObject({ met: false, found: expect.stringContaining("a") });
  expect(conditionOf(["golden"], ["crm:find"], { allowUnusedFixtures: true })).toMatchObject({ met: true });
});

test("a result that does not say whether its fixtures were used does not", () => {
  expect(conditionOf(["golden"], undefined)).toMatchObject({ met: false, found: expect.stringContaining("again") });
});

test("live tools do not, unless the evidence names their mode", () => {
  expect(conditionOf(["golden", "live-shadow"], [])).toMatchObject({ met: false });
  expect(conditionOf(["golden", "live-shadow"], [], LIVE)).toMatchObject({ met: true, found: "those" });
  expect(conditionOf(["live-shadow"], undefined, LIVE)).toMatchObject({ met: true });
});

test("a live pass that the evidence names does not excuse fixtures that the other passes never used", () => {
  expect(conditionOf(["golden", "live-shadow"], ["crm:find"], LIVE)).toMatchObject({ met: false });
});

test("a suite of live modes only has no such condition", () => {
  expect(conditionOf(["live-shadow"], undefined, {}, ["live-shadow"])).toBeUndefined();
});
