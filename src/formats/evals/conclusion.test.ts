import { describe, expect, test } from "vitest";
import type { EvalNotRun, EvalReport, EvalStop } from "../../protocol/evals/api.ts";
import {
  broken,
  comparedWith,
  entryOf,
  outcomeOf,
  reportOf,
  right,
  type TaskGiven,
  wrong,
} from "../../testing/eval-outcomes.ts";
import { FAIL_ON } from "./conclusion.ts";

const tasks = (count: number, trial: () => object, prefix = "t"): TaskGiven[] =>
  Array.from({ length: count }, (_, i) => ({ taskId: `${prefix}${i}`, trials: [trial()] }));
const leftOutOf = (more: Partial<EvalNotRun>): EvalNotRun => ({
  mode: "golden",
  reason: "not_chosen",
  taskCount: 1,
  taskIds: ["x"],
  missing: 0,
  missingFromBaseline: 0,
  ...more,
});
const concluded = (...given: Parameters<typeof outcomeOf>) => outcomeOf(...given).conclusion;

describe("an evaluation", () => {
  test("that meets the bar of its suite passed", () => {
    const { verdict, exitCode, sentence, reasons } = concluded(reportOf([...tasks(9, right), ...tasks(1, wrong, "w")]));
    expect({ verdict, exitCode, reasons }).toEqual({ verdict: "passed", exitCode: 0, reasons: [] });
    expect(sentence).toMatch(/^Passed: 9 of 10 tasks passed, score 0\.9 \[[\d.–]+\]\.$/);
  });

  test.each([
    ["score", /below the bar/],
    ["cost", /cost more/],
    ["cost_unknown", /not known/],
    ["latency", /latency/],
  ] as const)("whose %s is not as the suite wants it failed", (unmet, says) => {
    const { verdict, exitCode, reasons } = concluded(reportOf(tasks(3, right), { passed: false, unmet: [unmet] }));
    expect({ verdict, exitCode }).toEqual({ verdict: "failed", exitCode: 1 });
    expect(reasons[0]).toMatch(says);
  });

  test("that was stopped has no verdict, whatever was done of it and whatever is demanded", () => {
    const stop = { status: "failed", error: "eval_budget_exceeded", tasksDone: 3, tasksPlanned: 9 } as const;
    const errorMessage = "The evaluation stopped after 3 of 9 tasks: it has spent 2 of 1 USD.";
    const failed = entryOf({ status: "failed", error: stop.error, errorMessage, taskCount: 9 });
    const cancelled = entryOf({ status: "cancelled", taskCount: 9 });
    for (const done of [tasks(3, right), tasks(3, wrong), tasks(3, broken)]) {
      const part = (stopped: EvalStop) => reportOf(done, { complete: false, stopped });
      const budget = concluded(part(stop), { failOn: [...FAIL_ON] }, failed);
      expect(budget).toMatchObject({ verdict: "no_verdict", exitCode: 5, reasons: [] });
      expect(budget.sentence).toBe(
        "No verdict: the budget stopped it. The evaluation stopped after 3 of 9 tasks: it has spent 2 of 1 USD.",
      );
      expect(budget.warnings[0]).toBe("Partial: it was stopped after 3 of 9 tasks, and all figures are of those.");
      const person = concluded(part({ status: "cancelled", tasksDone: 3, tasksPlanned: 9 }), {}, cancelled);
      expect(person).toMatchObject({
        exitCode: 5,
        sentence: "No verdict: the evaluation was cancelled after 3 of 9 tasks.",
      });
    }
  });

  test("that its host calls not passed failed, also when nobody says why", () => {
    expect(concluded(reportOf(tasks(3, right), { passed: false, unmet: [] }))).toMatchObject({ exitCode: 1 });
  });

  test.each(["high", "critical"] as const)(
    "with a finding of %s severity failed, whatever the mean of its scores",
    (severity) => {
      const findings = [{ kind: "data-leak" as const, severity, by: "canary", trial: 1 }];
      const report = reportOf([...tasks(9, right), { taskId: "leak", trials: [right()], findings }]);
      expect(report.passed).toBe(true);
      const { verdict, exitCode, reasons } = concluded(report);
      expect({ verdict, exitCode }).toEqual({ verdict: "failed", exitCode: 1 });
      expect(reasons).toEqual(["something of high or critical severity was found in 1 task"]);
    },
  );

  test("that got worse than its baseline failed, whatever the bar", () => {
    const before = tasks(60, right);
    const after = before.map((task, i) => (i < 10 ? { ...task, trials: [wrong()] } : task));
    const report = comparedWith(after, before);
    expect(report.passed).toBe(true);
    expect(concluded(report)).toMatchObject({ verdict: "failed", exitCode: 1 });
    expect(concluded(report).sentence).toContain("worse than its baseline");
  });

  test("that is suspect passes with a warning, or fails when told to", () => {
    const before = tasks(40, right);
    const after = before.map((task, i) => (i < 4 ? { ...task, trials: [wrong()] } : task));
    const report = comparedWith(after, before);
    expect(report.baseline?.comparison?.verdict).toBe("suspect");
    expect(concluded(report)).toMatchObject({ exitCode: 0, warnings: [expect.stringContaining("may be chance")] });
    expect(concluded(report, { failOn: ["suspect"] })).toMatchObject({ verdict: "failed", exitCode: 1 });
    expect(concluded(report, { requireVerdict: true })).toMatchObject({ exitCode: 0 });
  });

  test("of too few tasks has no verdict when one is required", () => {
    const report = comparedWith(tasks(3, right), tasks(3, right));
    expect(concluded(report)).toMatchObject({ exitCode: 0 });
    expect(concluded(report, { requireVerdict: true })).toMatchObject({ verdict: "no_verdict", exitCode: 5 });
    expect(concluded(reportOf(tasks(3, right)), { requireVerdict: true })).toMatchObject({ exitCode: 5 });
    const bad = comparedWith(tasks(3, wrong), tasks(3, right));
    expect(concluded(bad, { requireVerdict: true })).toMatchObject({ verdict: "failed", exitCode: 1 });
  });

  test.each([
    ["agent_unreachable", "unreachable", 4],
    ["agent_rate_limited", "unreachable", 4],
    ["judge_unreachable", "unreachable", 4],
    ["agent_not_configured", "not_configured", 2],
    ["judge_output_invalid", "no_verdict", 5],
    ["agent_crashed", "failed", 1],
    ["agent_timeout", "failed", 1],
  ] as const)("in which every task ended in %s is %s", (code, verdict, exitCode) => {
    expect(concluded(reportOf(tasks(3, () => broken(code))))).toMatchObject({ verdict, exitCode });
  });

  test("in which one task was answered is not unreachable", () => {
    const report = reportOf([...tasks(3, () => broken("agent_unreachable")), ...tasks(1, right, "r")]);
    expect(concluded(report)).toMatchObject({ verdict: "failed", exitCode: 1 });
    expect(concluded(report).sentence).toContain("3 errors counted as 0");
  });

  test.each([
    [{ status: "failed", error: "eval_budget_exceeded" }, /budget was spent/],
    [
      { status: "failed", error: "eval_budget_exceeded", errorMessage: "It stopped after 1 task: a price is missing." },
      /^No verdict: the budget stopped it\. It stopped after 1 task: a price is missing\.$/,
    ],
    [{ status: "failed", error: "eval_suite_changed" }, /failed with eval_suite_changed/],
    [{ status: "cancelled" }, /was cancelled/],
    [{ status: "running" }, /has not ended/],
  ] as const)("that is %j has no verdict", (more, says) => {
    const { verdict, exitCode, sentence } = concluded(undefined, {}, entryOf(more));
    expect({ verdict, exitCode }).toEqual({ verdict: "no_verdict", exitCode: 5 });
    expect(sentence).toMatch(says);
  });

  test("fails on what it is told to, and only then", () => {
    const flaky = { taskId: "f", trials: [right(), wrong()] };
    const steady = (taskId: string) => ({ taskId, trials: [right(), right()] });
    const finding = { kind: "data-leak", severity: "low", by: "canary", trial: 1 } as const;
    const given = [
      ...Array.from({ length: 18 }, (_, i) => steady(`s${i}`)),
      flaky,
      { taskId: "e", trials: [right(), broken()] },
      { taskId: "n", trials: [right(), right()], findings: [finding] },
    ];
    const report = reportOf(given);
    expect(concluded(report)).toMatchObject({ exitCode: 0 });
    expect(concluded(report).warnings).toHaveLength(3);
    expect(concluded(report).warnings).toContain("Something unsafe was noticed in 1 task.");
    for (const what of FAIL_ON.filter((one) => one !== "suspect")) {
      expect(concluded(report, { failOn: [what] }), what).toMatchObject({ verdict: "failed", exitCode: 1 });
      expect(concluded(reportOf([steady("s")]), { failOn: [what] }), what).toMatchObject({ exitCode: 0 });
    }
  });

  test("says that nothing was compared, and that results were cached", () => {
    const report = reportOf(
      tasks(3, () => right({ cached: true })),
      { leftOut: { modes: ["regression"], tasks: 0 } },
    );
    expect(concluded(report).warnings).toEqual([
      "Nothing was compared: there is no baseline.",
      "3 of 3 trials were taken from the cache and not run.",
    ]);
  });

  test("has no verdict where a task of its suite could not be run, and says what to do", () => {
    const rubric = (missing: number) => leftOutOf({ mode: "rubric", reason: "no_judge", missing });
    const report = (missing: number) =>
      reportOf(tasks(12, right), { leftOut: { modes: ["rubric"], tasks: 1 }, notRun: [rubric(missing)] });
    const { verdict, exitCode, sentence } = concluded(report(1));
    expect({ verdict, exitCode }).toEqual({ verdict: "no_verdict", exitCode: 5 });
    expect(sentence).toMatch(
      /^No verdict: 12 of 12 tasks passed, .*, but 1 task was not run in mode rubric: no judge is configured\. Configure a judge .*: --allow-missing rubric\.$/,
    );
    expect(concluded(report(0))).toMatchObject({ verdict: "passed", exitCode: 0 });
    const bad = { ...report(1), passed: false, unmet: ["score" as const] };
    expect(concluded(bad)).toMatchObject({ verdict: "failed", exitCode: 1 });
  });

  test("has no verdict on fewer tasks than its baseline has", () => {
    const report = {
      ...comparedWith(tasks(30, right), tasks(33, right)),
      notRun: [leftOutOf({ missingFromBaseline: 3 })],
    };
    expect(concluded(report).warnings).toContain(
      "Compared on the 30 tasks that both have; 0 only here, 3 only in the baseline.",
    );
    const { exitCode, sentence } = concluded(report);
    expect(exitCode).toBe(5);
    expect(sentence).toContain("3 tasks of the baseline were not run in mode golden: other tasks were chosen");
  });

  test("says what of its suite was not run, and that live tools answered", () => {
    const warnings = (more: Partial<EvalReport>) => concluded(reportOf(tasks(3, right), more)).warnings;
    const rubric = { mode: "rubric", taskCount: 2, taskIds: ["x", "y"] } satisfies Partial<EvalNotRun>;
    const leftOut: EvalReport["leftOut"] = { modes: ["rubric"], tasks: 2 };
    expect(warnings({ leftOut, notRun: [leftOutOf({ ...rubric, reason: "not_asked" })] })).toEqual([
      "2 of 5 tasks of the suite were not run: mode rubric was not asked for.",
    ]);
    expect(warnings({ leftOut, notRun: [leftOutOf({ ...rubric, reason: "no_judge" })] })).toEqual([
      "2 of 5 tasks of the suite were not run: no judge is configured (mode rubric).",
    ]);
    expect(warnings({ leftOut: { modes: [], tasks: 1 }, notRun: [leftOutOf({})] })).toEqual([
      "1 of 4 tasks of the suite was not run: other tasks were chosen.",
    ]);
    const shadow = leftOutOf({ mode: "live-shadow", reason: "not_named", taskCount: 3, taskIds: [] });
    const attack = leftOutOf({ mode: "adversarial", reason: "not_asked", taskCount: 3, taskIds: [] });
    expect(warnings({ notRun: [attack, shadow] })).toEqual([
      "Mode adversarial was not run: it was not asked for.",
      "Mode live-shadow was not run: it runs only when named.",
    ]);
    expect(warnings({ modes: ["live-shadow"] })).toEqual([expect.stringContaining("in place of fixtures")]);
  });
});
