import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { AppError } from "../protocol/errors.ts";
import { Comparison, SuiteComparisons } from "../protocol/evals/eval-statistics.ts";
import type { EvalMode } from "../protocol/evals/eval-suite.ts";
import { matches } from "../protocol/schema.ts";
import { pick, randomFrom } from "../testing/random-workflow.ts";
import { compare, compareSuites } from "./comparison.ts";
import { pairTasks, sharedDelta, type TaskResult } from "./pair-tasks.ts";

function results(scores: readonly (number | null)[], bar = 1): TaskResult[] {
  return scores.map((score, i) => ({ taskId: `task-${i}`, score, passed: score !== null && score >= bar }));
}

/** Of pass/fail tasks: so many that only the baseline passed, only the candidate, both, none. */
function passFail(lost: number, gained: number, both: number, none = 0) {
  const fill = (...runs: [number, number][]) => runs.flatMap(([count, score]) => Array<number>(count).fill(score));
  return {
    candidate: results(fill([lost, 0], [gained, 1], [both, 1], [none, 0])),
    baseline: results(fill([lost, 1], [gained, 0], [both, 1], [none, 0])),
  };
}

describe("a comparison of pass/fail tasks", () => {
  test("is decided by McNemar's test, and names what was lost and gained", () => {
    const comparison = compare(passFail(10, 2, 68, 20));
    expect(comparison).toMatchObject({
      verdict: "regressed",
      pairs: 100,
      measure: "pass_rate",
      decidedBy: "mcnemar",
      candidate: { mean: 0.7, count: 100 },
      baseline: { mean: 0.78, count: 100 },
      delta: -0.08,
      passFail: { lost: 10, gained: 2 },
      interval: { method: "bootstrap", seed: 1 },
      gained: ["task-10", "task-11"],
      alpha: 0.05,
      margin: 0.05,
    });
    expect(comparison.p).toBeCloseTo(0.0386, 4);
    expect(comparison.lost).toHaveLength(10);
    expect(comparison.scores.p).toBeCloseTo(0.0386, 4);
    expect(comparison).not.toHaveProperty("tasksNeeded");
    expect(comparison.reason).toBe(
      "The pass rate went from 0.78 to 0.7 over 100 tasks (-0.08, 95 % interval -0.15 to -0.02; 10 lost, 2 gained); " +
        "chance alone seldom gives that (McNemar's test, p 0.0386, below 0.05).",
    );
  });

  test.each([
    ["improved", passFail(0, 8, 22)],
    ["noise", passFail(0, 0, 20)],
    ["noise", passFail(0, 3, 12, 5)],
    ["suspect", passFail(4, 0, 36)],
    ["not_enough_data", passFail(1, 0, 9)],
    ["not_enough_data", passFail(4, 0, 0)],
    ["not_enough_data", passFail(0, 0, 0)],
  ])("is %s, in a closed form and a sentence", (verdict, sides) => {
    const comparison = compare(sides);
    expect(comparison.verdict).toBe(verdict);
    expect(matches(Comparison, comparison)).toBe(true);
    expect(comparison.reason).toMatch(/^[A-Z][^\n]*\.$/);
    expect(comparison.reason).not.toMatch(/NaN|undefined|null|Infinity|-0\b(?!\.)/);
    expect(JSON.parse(JSON.stringify(comparison))).toEqual(comparison);
  });

  test("says how many tasks would settle it where it is open", () => {
    const open = compare({ ...passFail(4, 0, 36) });
    expect(open.tasksNeeded).toMatchObject({ value: 312, discordance: 0.1, power: 0.8 });
    expect(open.reason).toContain("About 312 tasks would settle it");
    expect(compare(passFail(0, 0, 3))).toMatchObject({
      tasksNeeded: { value: null, reason: "no_discordance" },
      reason:
        "Only 3 tasks could be compared; at least 5 are needed. No task changed, so nothing says how many would settle it.",
    });
    expect(compare(passFail(1, 0, 3), { margin: 0.5 }).tasksNeeded?.value).toBe(5);
  });

  test("reads as in the documentation", () => {
    const page = readFileSync(new URL("../../docs/statistics.md", import.meta.url), "utf8");
    for (const sides of [passFail(10, 2, 68, 20), passFail(4, 0, 36)])
      expect(page).toContain(`\n${compare(sides).reason}\n`);
  });

  test("does not promise that fewer tasks than there are would settle a close call", () => {
    const close = compare(passFail(84, 65, 251), { margin: 0.1 });
    expect(close).toMatchObject({ verdict: "suspect", pairs: 400, tasksNeeded: { value: 291 } });
    expect(close.reason).toContain("291 tasks are enough to see a difference of 0.1");
    expect(close.reason).toContain("so this is a close call");
    expect(close.reason).not.toContain("would settle it");
  });

  test("counts passes, not scores, where a task failed for what was found in its output", () => {
    const baseline = results(Array(20).fill(1));
    const candidate = baseline.map((result, i) => (i < 6 ? { ...result, passed: false } : result));
    expect(compare({ candidate, baseline })).toMatchObject({ verdict: "regressed", delta: -0.3, p: 0.03125 });
  });
});

describe("a comparison of scores", () => {
  test("is decided by the sign-flip test", () => {
    const differences = [0.2, 0.1, 0, 0.3, -0.1, 0.2, 0.15, 0.05];
    const comparison = compare({
      candidate: results(differences.map((difference) => 0.5 + difference)),
      baseline: results(differences.map(() => 0.5)),
    });
    expect(comparison).toMatchObject({ measure: "score", decidedBy: "sign_flip", p: 0.0625 });
    expect(comparison.scores).toMatchObject({ flips: 256, extreme: 16, all: true });
    expect(comparison.delta).toBeCloseTo(0.1125, 12);
    expect(comparison.passFail).toMatchObject({ p: 1, lost: 0, gained: 0 });
    expect(comparison.verdict).toBe("noise");
  });

  test("needs tasks by how far the scores moved, also where no task changed from pass to fail", () => {
    const comparison = compare({
      candidate: results([0.1, 0.9, 0.2, 0.4, 0.6, 0.3], 0.95),
      baseline: results([0.5, 0.4, 0.6, 0.5, 0.4, 0.7], 0.95),
    });
    expect(comparison.verdict).toBe("not_enough_data");
    expect(comparison.tasksNeeded?.value).toBeGreaterThan(100);
  });

  test("does not keep quiet about passes that were lost while scores rose elsewhere", () => {
    const candidate = results([...Array(8).fill(0.79), ...Array(30).fill(0.7)], 0.8);
    const baseline = results([...Array(8).fill(0.8), ...Array(30).fill(0.697)], 0.8);
    const comparison = compare({ candidate, baseline });
    expect(comparison.passFail).toMatchObject({ lost: 8, gained: 0 });
    expect(comparison.verdict).not.toBe("regressed");
    expect(comparison.reason).toContain("Passes alone say more: 8 lost and 0 gained");
  });
});

describe("tasks that cannot be compared", () => {
  test("are named, on each side", () => {
    const { candidate, baseline } = passFail(0, 0, 10);
    const comparison = compare({
      candidate: [
        ...candidate,
        { taskId: "new", score: 1, passed: true },
        { taskId: "shaky", score: null, passed: false },
      ],
      baseline: [...baseline, { taskId: "old", score: 0, passed: false }, { taskId: "shaky", score: 1, passed: true }],
    });
    expect(comparison).toMatchObject({
      pairs: 10,
      unpaired: { candidate: ["new"], baseline: ["old"] },
      errored: { candidate: ["shaky"], baseline: [] },
      lost: [],
    });
    expect(comparison.reason).toContain(
      "Not compared: 1 task only in the candidate, 1 task only in the baseline, 1 task with an error in the candidate.",
    );
  });

  test("are not counted as lost or gained for an error on either side", () => {
    const { candidate, baseline } = passFail(0, 0, 10);
    const shaky = { taskId: "shaky", score: null, passed: false };
    const comparison = compare({
      candidate: [...candidate, { taskId: "shaky", score: 1, passed: true }],
      baseline: [...baseline, shaky],
    });
    expect(comparison).toMatchObject({
      pairs: 10,
      delta: 0,
      gained: [],
      errored: { candidate: [], baseline: ["shaky"] },
    });
  });

  test("leave no verdict when they are all there is", () => {
    const comparison = compare({ candidate: results([null, null]), baseline: results([1, 1]) });
    expect(comparison).toMatchObject({ verdict: "not_enough_data", pairs: 0, delta: null, p: null, interval: null });
    expect(comparison.passFail).toMatchObject({ p: null, reason: "nothing_counted" });
    expect(matches(Comparison, comparison)).toBe(true);
  });

  test.each<[string, TaskResult[]]>([
    ["two results of task task-0", [...results([1]), ...results([0])]],
    ["score of task task-0 is not between 0 and 1", results([Number.NaN])],
    ["score of task task-0 is not between 0 and 1", results([1.1])],
  ])("are refused: %s", (problem, candidate) => {
    expect(() => compare({ candidate, baseline: [] })).toThrow(problem);
    expect(() => compare({ candidate: [], baseline: candidate })).toThrow(AppError);
  });
});

describe("the settings of a comparison", () => {
  test.each([
    { alpha: 0 },
    { alpha: 1 },
    { alpha: Number.NaN },
    { margin: 0 },
    { margin: 2 },
    { seed: -1 },
    { seed: 0.5 },
  ])("are refused: %o", (settings) => {
    expect(() => compare(passFail(1, 1, 10), settings)).toThrow(AppError);
  });
});

describe("any comparison", () => {
  test("does not depend on the order of tasks, repeats itself, and turns around when the sides do", () => {
    const random = randomFrom(77);
    const mirrored = { regressed: "improved", improved: "regressed" } as Record<string, string>;
    for (let round = 0; round < 12; round++) {
      const values = round % 2 === 0 ? [0, 1] : [0, 0.25, 0.5, 1];
      const count = 1 + Math.floor(random() * 30);
      const scores = () => Array.from({ length: count }, () => pick(random, values));
      const [candidate, baseline] = [results(scores()), results(scores())];
      const comparison = compare({ candidate, baseline });
      expect(matches(Comparison, comparison)).toBe(true);
      const { lost: _, gained: __, ...shuffled } = compare({ candidate: candidate.toReversed(), baseline });
      expect(comparison).toMatchObject(shuffled);
      const turned = compare({ candidate: baseline, baseline: candidate });
      expect(turned.p).toBe(comparison.p);
      expect(turned.delta).toBeCloseTo(-(comparison.delta ?? 0), 12);
      expect(turned.lost).toEqual(comparison.gained);
      const other = mirrored[comparison.verdict];
      if (other) expect(turned.verdict).toBe(other);
    }
  });
});

describe("several suites in one decision", () => {
  const named = (suite: string, sides: ReturnType<typeof passFail>) => ({ suite, ...sides });

  test("are judged by Holm's p-values: what regresses alone may be chance among many", () => {
    const alone = compareSuites([named("a", passFail(10, 2, 88))]);
    expect(alone).toMatchObject({ verdict: "regressed", reason: "1 of 1 suite: regressed (a)." });
    const among = compareSuites([
      named("a", passFail(10, 2, 88)),
      named("b", passFail(3, 4, 93)),
      named("c", passFail(0, 0, 50)),
    ]);
    expect(among.verdict).toBe("suspect");
    expect(among.suites[0]?.comparison.p).toBeCloseTo(0.0386, 4);
    expect(among.suites[0]?.comparison.adjustedP).toBeCloseTo(3 * 0.03857, 4);
    expect(among.suites[0]?.comparison.reason).toContain("p 0.0386, 0.116 among several suites");
    expect(matches(SuiteComparisons, among)).toBe(true);
  });

  test.each([
    ["regressed", [passFail(30, 0, 70), passFail(0, 30, 70)]],
    ["not_enough_data", [passFail(0, 30, 70), passFail(0, 0, 3)]],
    ["improved", [passFail(0, 30, 70), passFail(0, 0, 50)]],
    ["noise", [passFail(0, 0, 50), passFail(0, 0, 60)]],
    ["not_enough_data", []],
  ])("have the worst verdict: %s", (verdict, suites) => {
    expect(compareSuites(suites.map((sides, i) => named(`suite-${i}`, sides))).verdict).toBe(verdict);
  });
});

describe("tasks in several modes", () => {
  const pass = (mode: EvalMode, score: number | null) => ({ mode, score, passed: score === 1 });
  const task = (taskId: string, ...passes: ReturnType<typeof pass>[]) => {
    const scores = passes.flatMap(({ score }) => score ?? []);
    const score = scores.length < passes.length ? null : Math.min(...scores);
    return { taskId, score, passed: score === 1, passes };
  };

  test("are one pair each, by the lowest score in the modes that both have", () => {
    const { pairs } = pairTasks(
      [task("a", pass("golden", 1), pass("adversarial", 0.5), pass("live-shadow", 0))],
      [task("a", pass("golden", 1), pass("adversarial", 1))],
    );
    expect(pairs).toMatchObject([
      { taskId: "a", candidate: { score: 0.5, passed: false }, baseline: { score: 1, passed: true } },
    ]);
  });

  test("name the modes that only one side has, with how many tasks", () => {
    const { unpairedModes, unpaired } = pairTasks(
      [task("a", pass("golden", 1), pass("live-shadow", 0)), task("b", pass("golden", 1), pass("live-shadow", 0))],
      [task("a", pass("golden", 1), pass("adversarial", 1)), task("b", pass("golden", 1))],
    );
    expect(unpairedModes).toEqual({
      candidate: [{ mode: "live-shadow", tasks: 2 }],
      baseline: [{ mode: "adversarial", tasks: 1 }],
    });
    expect(unpaired).toEqual({ candidate: [], baseline: [] });
  });

  test("are not compared without a mode in common, and are whole where one side knows no modes", () => {
    const live = [task("a", pass("live-shadow", 1))];
    expect(pairTasks(live, [task("a", pass("golden", 0))])).toMatchObject({
      pairs: [],
      unpaired: { candidate: ["a"], baseline: ["a"] },
    });
    expect(pairTasks(live, [{ taskId: "a", score: 0, passed: false }]).pairs).toHaveLength(1);
    expect(sharedDelta(live, [task("a", pass("golden", 0))])).toBeNull();
  });

  test("are errors only where a mode that both have could not be scored, and count as 0 in the difference", () => {
    const candidate = [task("a", pass("golden", 1), pass("adversarial", null)), task("b", pass("golden", null))];
    const baseline = [task("a", pass("golden", 1)), task("b", pass("golden", 1))];
    expect(pairTasks(candidate, baseline)).toMatchObject({
      pairs: [{ taskId: "a" }],
      errored: { candidate: ["b"], baseline: [] },
    });
    expect(sharedDelta(candidate, baseline)).toBe(-0.5);
  });
});
