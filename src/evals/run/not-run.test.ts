import { expect, test } from "vitest";
import type { EvalMode } from "../../protocol/evals/eval-suite.ts";
import { goldenTask, suiteOf } from "../../testing/eval-bench.ts";
import type { EvalPlan } from "./eval-plan.ts";
import { notRunOf } from "./not-run.ts";

const MODES: EvalMode[] = ["golden", "adversarial", "regression", "live-shadow"];
const suite = suiteOf([goldenTask("a", 1, 1)], { modes: MODES });

test("of modes that the caller left out and the baseline has, those that repeat others are not missing", () => {
  const modesNotRun = MODES.slice(1).map((mode) => ({ mode, reason: "not_asked" as const }));
  const plan: Partial<EvalPlan> = { modes: ["golden"], taskIds: ["a"], modesNotRun, tasksChosen: false };
  const passes = MODES.map((mode) => ({ mode, score: 1, passed: true }));
  const entries = notRunOf(plan as EvalPlan, suite, [{ taskId: "a", score: 1, passed: true, passes }]);
  expect(entries.map(({ mode, missingFromBaseline }) => [mode, missingFromBaseline])).toEqual([
    ["adversarial", 1],
    ["regression", 0],
    ["live-shadow", 0],
  ]);
});
