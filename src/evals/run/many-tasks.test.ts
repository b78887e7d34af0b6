import { expect, test } from "vitest";
import { aggregate } from "../../statistics/aggregate.ts";
import { goldenTask } from "../../testing/eval-bench.ts";
import { turnsOfOthers } from "../../testing/turns.ts";
import { chosen } from "./create-eval-run.ts";
import { figuresByMode } from "./passes.ts";
import { type TaskResult, trialsOf } from "./task-result.ts";

function flaky(taskId: string): TaskResult {
  const trial = { mode: "golden" as const, invocationId: "inv", retries: 0, cached: false, latencyMs: 1 };
  const trials = [
    { ...trial, trial: 1, score: 1, passed: true },
    { ...trial, trial: 2, score: 0, passed: false },
  ];
  return { taskId, score: 0.5, passed: false, bar: 1, latencyMs: 1, findings: [], trials };
}

test("the intervals of thousands of tasks are resampled with pauses, and are the same as without", async () => {
  const results = Array.from({ length: 2000 }, (_, i) => flaky(`t${i}`));
  const [first, ...others] = results;
  const steady = { ...first, trials: (first?.trials ?? []).map((one) => ({ ...one, score: 1, passed: true })) };
  const tasks = [steady as TaskResult, ...others];
  const turns = turnsOfOthers();
  const [golden] = await figuresByMode(tasks, ["golden"], 7);
  // One interval alone has ten times as many draws as are made at once.
  expect(turns()).toBeGreaterThan(10);
  expect(golden?.figures.score.interval).toMatchObject({ method: "bootstrap" });
  expect(golden?.figures).toEqual(aggregate(tasks.map(trialsOf), { seed: 7 }).aggregate);
});

test("choosing tasks by their ids looks at each task a few times, however many ids are given", () => {
  let looks = 0;
  const tasks = Array.from({ length: 100 }, (_, i) => ({
    ...goldenTask(`t${i}`, "a"),
    get taskId() {
      looks += 1;
      return `t${i}`;
    },
  }));
  const taskIds = tasks.map((_, i) => `t${99 - i}`);
  expect(chosen(tasks, {}, { taskIds })).toHaveLength(100);
  expect(() => chosen(tasks, {}, { taskIds: taskIds.map((id) => `no-${id}`) })).toThrow("no-t99");
  expect(looks).toBeLessThan(5 * tasks.length);
});
