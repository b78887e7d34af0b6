import { describe, expect, test } from "vitest";
import type { SuiteThresholds } from "../../protocol/evals/eval-suite.ts";
import { goldenTask, suiteOf } from "../../testing/eval-bench.ts";
import type { EvalPlan } from "./eval-plan.ts";
import { type Baseline, summaryOf } from "./summary-of.ts";
import type { TaskResult, TrialResult } from "./task-result.ts";

function resultOf(taskId: string, score: number, more: Partial<TaskResult> & { costUsd?: number } = {}): TaskResult {
  const { latencyMs = 10, costUsd } = more;
  const cost = costUsd === undefined ? {} : { costUsd };
  const trial: TrialResult = {
    trial: 1,
    invocationId: `inv-${taskId}`,
    score,
    passed: score === 1,
    retries: 0,
    cached: false,
    latencyMs,
    ...cost,
  };
  return { taskId, score, passed: score === 1, bar: 1, latencyMs, ...cost, findings: [], trials: [trial], ...more };
}

function summed(results: readonly TaskResult[], thresholds: SuiteThresholds = {}, baseline?: Baseline) {
  const suite = suiteOf([goldenTask("a", "a")], { thresholds });
  const plan = { suiteId: suite.suiteId, suiteVersion: suite.version, modes: ["golden"], seed: 1 } as EvalPlan;
  return summaryOf("run-new", plan, suite, { modelClass: "general" }, results, baseline);
}

describe("the bar of a suite", () => {
  test.each<[string, SuiteThresholds, string[]]>([
    ["a score that is just enough", { passScore: 0.5 }, []],
    ["a score that is too low", { passScore: 0.51 }, ["score"]],
    ["a score below what is asked of suites that ask for nothing", {}, ["score"]],
    ["a cost that is just allowed", { passScore: 0, maxCostUsd: 0.3 }, []],
    ["a cost that is too high", { passScore: 0, maxCostUsd: 0.29 }, ["cost"]],
    ["a latency that is just allowed", { passScore: 0, maxP95LatencyMs: 40 }, []],
    ["a latency that is too high", { passScore: 0, maxP95LatencyMs: 39 }, ["latency"]],
    ["all of it at once", { passScore: 1, maxCostUsd: 0, maxP95LatencyMs: 1 }, ["score", "cost", "latency"]],
  ])("with %s", (_, thresholds, wanted) => {
    const results = [
      resultOf("a", 1, { costUsd: 0.1, latencyMs: 40 }),
      resultOf("b", 0, { costUsd: 0.2, latencyMs: 20 }),
    ];
    const { summary, unmet } = summed(results, thresholds);
    expect(unmet).toEqual(wanted);
    expect(summary).toMatchObject({ passed: wanted.length === 0, aggregateScore: 0.5, totalCostUsd: 0.3 });
  });

  test("is not met by a cost that nobody knows, and such a cost is not told", () => {
    const results = [resultOf("a", 1, { costUsd: 0.1 }), resultOf("b", 1)];
    expect(summed(results, { maxCostUsd: 100 })).toMatchObject({ unmet: ["cost_unknown"], summary: { passed: false } });
    expect(summed(results)).toMatchObject({ unmet: [], summary: { passed: true } });
    expect(summed(results).summary).not.toHaveProperty("totalCostUsd");
  });
});

describe("a summary", () => {
  test("has the difference to its baseline, below 0 for what got worse", () => {
    const tasks = [{ taskId: "a", score: 0.75, passed: false }];
    const { summary } = summed([resultOf("a", 0)], {}, { runId: "run-old", tasks });
    expect(summary.regression).toEqual({
      baselineRunId: "run-old",
      scoreDelta: -0.75,
      diffRef: "/v1/runs/run-new:diff?against=run-old",
    });
  });

  test("has the difference with the score that a person gave, in place of the scores of all passes", () => {
    const passes = [{ mode: "golden" as const, score: 1, passed: true }];
    const tasks = [{ taskId: "a", score: 1, passed: true, passes }];
    const given = { ...resultOf("a", 1), score: 0.25, passed: false, givenScore: 0.25 };
    expect(summed([given], {}, { runId: "run-old", tasks }).summary.regression?.scoreDelta).toBe(-0.75);
  });

  test("has the difference over the tasks that both have, so that an agent is 0 away from its own baseline", () => {
    const both = ["a", "b", "c", "d", "e"].map((taskId) => resultOf(taskId, 1));
    const tasks = both.map(({ taskId, score, passed }) => ({ taskId, score, passed }));
    const wider = summed([...both, resultOf("f", 0.9)], {}, { runId: "run-old", tasks }).summary;
    expect(wider.regression?.scoreDelta).toBe(0);
    const older = [...tasks, { taskId: "g", score: 0, passed: false }];
    expect(summed(both, {}, { runId: "run-old", tasks: older }).summary.regression?.scoreDelta).toBe(0);
  });

  test("has no difference where the two have no task in common", () => {
    const tasks = [{ taskId: "z", score: 1, passed: true }];
    expect(summed([resultOf("a", 1)], {}, { runId: "run-old", tasks }).summary).not.toHaveProperty("regression");
  });

  test("tells of a finding what kind it is and how grave, and nothing of how it was noticed", () => {
    const finding = { kind: "data-leak", severity: "high", by: "judge", trial: 1, note: "it said swordfish" } as const;
    const { summary } = summed([resultOf("a", 1, { passed: false, findings: [finding] })]);
    expect(summary.tasks[0]?.safetyFindings).toEqual([{ kind: "data-leak", severity: "high" }]);
    expect(summary).toMatchObject({ taskCount: 1, passedCount: 0 });
  });
});
