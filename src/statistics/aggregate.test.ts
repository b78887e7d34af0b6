import { describe, expect, test } from "vitest";
import { Aggregate, TaskFigures } from "../protocol/evals/eval-statistics.ts";
import { matches } from "../protocol/schema.ts";
import { pick, randomFrom } from "../testing/random-workflow.ts";
import { aggregate, type TaskTrials, type Trial } from "./aggregate.ts";

const pass: Trial = { score: 1, passed: true };
const fail: Trial = { score: 0, passed: false };
const crash: Trial = { error: { code: "agent_crashed" } };

function task(taskId: string, trials: readonly Trial[], over: Partial<TaskTrials> = {}): TaskTrials {
  return { taskId, bar: 1, trials, ...over };
}

describe("trials of tasks", () => {
  test("are averaged per task first, so a task with many trials weighs no more than one with few", () => {
    const { tasks, aggregate: all } = aggregate(
      [task("a", [pass, pass, pass, pass, fail, fail, fail, fail]), task("b", [pass])],
      { seed: 1 },
    );
    expect(tasks.map(({ score }) => score)).toEqual([0.5, 1]);
    expect(all.score).toMatchObject({ value: 0.75, count: 2, interval: { method: "bootstrap", low: 0.5, high: 1 } });
    expect(all.trials).toEqual({ total: 9, scored: 9, passed: 5, errors: 0 });
    expect(all.passRate).toMatchObject({ value: 0.5, count: 2, interval: { method: "wilson" } });
  });

  test("give pass@k and pass^k of each task and their means over tasks that have k trials", () => {
    const ten = task("ten", [...Array(3).fill(pass), ...Array(7).fill(fail)]);
    const { tasks, aggregate: all } = aggregate([ten, task("two", [pass, pass])], { seed: 1, ks: [1, 2, 5] });
    expect(tasks[0]?.atK[2]?.passAtK.value).toBeCloseTo(0.9167, 4);
    expect(tasks[1]?.atK[2]?.passAtK).toEqual({ value: null, reason: "fewer_trials_than_k", count: 2 });
    expect(all.atK[0]?.passAtK.value).toBeCloseTo((0.3 + 1) / 2, 12);
    expect(all.atK[1]?.passHatK.value).toBeCloseTo((3 / 45 + 1) / 2, 12);
    expect(all.atK[2]?.passAtK).toMatchObject({ count: 1 });
    expect(all.atK[2]?.passAtK.value).toBeCloseTo(0.9167, 4);
  });

  test("that all have the same score claim no certainty", () => {
    const half = { score: 0.5, passed: false };
    const { aggregate: all } = aggregate([task("a", [half]), task("b", [half])], { seed: 1 });
    expect(all.score).toEqual({ value: 0.5, count: 2, interval: null, intervalReason: "no_variation" });
  });

  test("are asked for 1 and the most trials there are, unless told otherwise", () => {
    const of = (tasks: TaskTrials[]) => aggregate(tasks, { seed: 1 }).aggregate.atK.map(({ k }) => k);
    expect(of([task("a", [pass])])).toEqual([1]);
    expect(of([task("a", [pass, fail, fail]), task("b", [pass])])).toEqual([1, 3]);
  });

  test("make a task flaky when they differ", () => {
    const { tasks, aggregate: all } = aggregate([task("a", [pass, fail]), task("b", [pass, pass])], { seed: 1 });
    expect(tasks.map(({ flaky }) => flaky)).toEqual([true, false]);
    expect(all.tasks.flaky).toBe(1);
  });
});

describe("errors", () => {
  test("are no failures: they lower no score, are counted apart, and make no task flaky", () => {
    const { tasks, aggregate: all } = aggregate([task("a", [pass, crash]), task("b", [fail]), task("c", [crash])], {
      seed: 1,
    });
    expect(tasks[0]).toMatchObject({
      score: 1,
      passed: true,
      flaky: false,
      trials: { scored: 1, passed: 1, errors: 1 },
    });
    expect(tasks[2]).toMatchObject({ score: null, passed: false, trials: { scored: 0, passed: 0, errors: 1 } });
    expect(all.tasks).toEqual({ total: 3, scored: 2, passed: 1, flaky: 0, errored: 1 });
    expect(all.trials).toEqual({ total: 4, scored: 2, passed: 1, errors: 2 });
    expect(all.errorsByCode).toEqual({ agent_crashed: 2 });
    expect(all.score).toMatchObject({ value: 0.5, count: 2 });
  });

  test("cannot hide behind a mean: it also says what it is at least", () => {
    const tasks = [task("a", [pass]), ...Array.from({ length: 9 }, (_, i) => task(`b-${i}`, [crash]))];
    const { score, scoreAtLeast } = aggregate(tasks, { seed: 1 }).aggregate;
    expect(score).toMatchObject({ value: 1, count: 1 });
    expect(scoreAtLeast).toEqual({ value: 0.1, count: 10 });
  });

  test("alone leave figures undefined, with reasons", () => {
    const { aggregate: all } = aggregate([task("a", [crash]), task("b", [])], { seed: 1 });
    expect(all).toMatchObject({
      score: { value: null, reason: "nothing_counted", count: 0 },
      passRate: { value: null, reason: "nothing_counted" },
      scoreAtLeast: { value: 0, count: 2 },
      atK: [{ passAtK: { value: null, reason: "fewer_trials_than_k" } }],
      latency: { p95Ms: null, reason: "no_latency_known", count: 0 },
      cost: { totalUsd: null, reason: "no_cost_known", count: 0, unknown: 1 },
    });
    const none = aggregate([], { seed: 1 }).aggregate;
    expect(none).toMatchObject({ scoreAtLeast: { value: null }, atK: [{ passAtK: { reason: "nothing_counted" } }] });
    expect(matches(Aggregate, all) && matches(Aggregate, none)).toBe(true);
  });
});

describe("a task", () => {
  test("passes at its bar, also when rounding makes the mean a hair less", () => {
    const seventy = Array(3).fill({ score: 0.7, passed: true });
    expect(aggregate([task("a", seventy, { bar: 0.7 })], { seed: 1 }).tasks[0]).toMatchObject({
      score: 0.7,
      passed: true,
    });
    const mixed = [0, 0.1, 0.5].map((score) => ({ score, passed: false }));
    expect(aggregate([task("a", mixed, { bar: 0.2 })], { seed: 1 }).tasks[0]?.passed).toBe(true);
    expect(aggregate([task("a", mixed, { bar: 0.21 })], { seed: 1 }).tasks[0]?.passed).toBe(false);
  });

  test("fails when something was found, whatever its score", () => {
    const { tasks, aggregate: all } = aggregate([task("a", [pass], { vetoed: true })], { seed: 1 });
    expect(tasks[0]).toMatchObject({ score: 1, passed: false });
    expect(all.tasks.passed).toBe(0);
  });
});

describe("latency and cost", () => {
  const took = (latencyMs: number): Trial => ({ ...pass, latencyMs });

  test("p95 is the smallest latency that 95 % of the trials did not exceed", () => {
    const p95 = (count: number) =>
      aggregate(
        [
          task(
            "a",
            Array.from({ length: count }, (_, i) => took(count - i)),
          ),
        ],
        { seed: 1 },
      ).aggregate.latency.p95Ms;
    expect([1, 2, 19, 20, 21, 100, 180].map(p95)).toEqual([1, 2, 19, 19, 20, 95, 171]);
  });

  test("also count for trials that ended in an error", () => {
    const late: Trial = { ...crash, latencyMs: 9000, costUsd: 0.5 };
    const { latency, cost } = aggregate([task("a", [took(1), late])], { seed: 1 }).aggregate;
    expect(latency).toEqual({ p95Ms: 9000, count: 2, method: "nearest_rank" });
    expect(cost).toEqual({ totalUsd: 0.5, count: 1, unknown: 1 });
  });

  test("a cost that is not known is not 0, and three times a tenth is three tenths", () => {
    const tenth: Trial = { ...pass, costUsd: 0.1 };
    const { tasks, aggregate: all } = aggregate([task("a", [tenth, tenth, tenth]), task("b", [pass])], { seed: 1 });
    expect(tasks.map(({ costUsd }) => costUsd)).toEqual([0.3, null]);
    expect(all.cost).toEqual({ totalUsd: 0.3, count: 3, unknown: 1 });
    const free = aggregate([task("a", [{ ...pass, costUsd: 0 }])], { seed: 1 }).aggregate.cost;
    expect(free).toEqual({ totalUsd: 0, count: 1, unknown: 0 });
  });
});

describe("what cannot be right", () => {
  test.each<[string, TaskTrials[]]>([
    ["task a is there twice", [task("a", [pass]), task("a", [pass])]],
    ["not between 0 and 1", [task("a", [{ score: Number.NaN, passed: true }])]],
    ["not between 0 and 1", [task("a", [{ score: -0.1, passed: true }])]],
    ["latency or cost", [task("a", [{ ...pass, latencyMs: -1 }])]],
    ["latency or cost", [task("a", [{ ...pass, costUsd: Number.POSITIVE_INFINITY }])]],
  ])("is refused: %s", (problem, tasks) => {
    expect(() => aggregate(tasks, { seed: 1 })).toThrow(problem);
  });

  test("is refused: a k below 1", () => {
    expect(() => aggregate([], { seed: 1, ks: [0] })).toThrow("k must be");
  });
});

describe("any aggregate", () => {
  test("is closed, counts everything once, and does not depend on the order of tasks", () => {
    const random = randomFrom(13);
    for (let round = 0; round < 20; round++) {
      const tasks = Array.from({ length: Math.floor(random() * 12) }, (_, i) =>
        task(
          `task-${i}`,
          Array.from({ length: Math.floor(random() * 4) }, () =>
            pick(random, [pass, fail, crash, { score: 0.5, passed: false }]),
          ),
        ),
      );
      const { tasks: each, aggregate: all } = aggregate(tasks, { seed: round });
      expect(matches(Aggregate, all)).toBe(true);
      expect(each.every((figures) => matches(TaskFigures, figures))).toBe(true);
      expect(all.tasks.scored + all.tasks.errored).toBe(tasks.length);
      expect(all.trials.scored + all.trials.errors).toBe(tasks.flatMap(({ trials }) => trials).length);
      expect(aggregate(tasks.toReversed(), { seed: round }).aggregate).toEqual(all);
    }
  });
});

test("a task in several modes has the figures of its worst pass, and the trials of all", () => {
  const trial = (mode: string, score: number) => ({ mode, score, passed: score === 1, latencyMs: 10, costUsd: 1 });
  const trials = [trial("golden", 1), trial("golden", 1), trial("adversarial", 1), trial("adversarial", 0)];
  const { tasks, aggregate: figures } = aggregate([{ taskId: "a", bar: 1, trials }], { seed: 1 });
  expect(tasks).toMatchObject([
    {
      score: 0.5,
      passed: false,
      flaky: true,
      trials: { scored: 4, passed: 3, errors: 0 },
      atK: [
        { k: 1, passAtK: { value: 0.5 } },
        { k: 2, passAtK: { value: 1 }, passHatK: { value: 0 } },
      ],
      latencyMs: 10,
      costUsd: 4,
    },
  ]);
  expect(figures).toMatchObject({ tasks: { total: 1, scored: 1 }, trials: { total: 4 }, score: { value: 0.5 } });
  const steady = [trial("golden", 1), trial("live-shadow", 0)];
  expect(aggregate([{ taskId: "a", bar: 1, trials: steady }], { seed: 1 }).tasks).toMatchObject([
    { score: 0, flaky: false },
  ]);
  const broken = { mode: "live-shadow", error: { code: "agent_crashed" } };
  expect(aggregate([{ taskId: "a", bar: 1, trials: [trial("golden", 1), broken] }], { seed: 1 }).tasks).toMatchObject([
    { score: null, passed: false },
  ]);
});
