import { describe, expect, test } from "vitest";
import type { EvalReport } from "../../protocol/evals/api.ts";
import type { AgentEvalSuite, EvalMode, EvalTask } from "../../protocol/evals/eval-suite.ts";
import { ADA, logOf, until } from "../../testing/engine.ts";
import {
  agentOf,
  agentsOf,
  type Behaviour,
  beginEval,
  echo,
  evalHost,
  goldenTask,
  suiteOf,
} from "../../testing/eval-bench.ts";
import { lexicalJudge } from "../../testing/lexical-judge.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { evalReport, evalSummary } from "./eval-report.ts";

const bench = workbench();

const ALL: EvalMode[] = ["golden", "adversarial", "regression", "live-shadow"];
const FIXTURES = { toolResponses: [{ tool: "crm:find", response: "fixture" }], memorySeed: [{ content: "seeded" }] };

/** Answers with what its tool says and what it remembers. */
const witness: Behaviour = async ({ tools, memory, signal }) => {
  const answer = await tools.call("crm:find", {}, signal);
  const found = answer.status === "ok" ? answer.outcome : answer.status;
  return { type: "completed", output: `${String(found)} ${memory.map(({ content }) => content).join()}` };
};

interface Given {
  readonly modes?: EvalMode[];
  readonly suite?: Partial<AgentEvalSuite>;
  readonly behave?: Behaviour;
  readonly judged?: boolean;
}

async function hostOf(
  tasks: readonly EvalTask[],
  { modes = ALL, suite, behave = witness, judged = false }: Given = {},
) {
  const { store } = bench;
  const agents = agentsOf([agentOf({ toolAllowlist: ["crm:find"] })], behave, {
    toolsFor: async () => ({
      tools: [{ name: "crm:find" }],
      call: async () => ({ status: "ok", outcome: "live" }),
    }),
    memoryFor: async () => [{ id: "m1", content: "remembered", tags: [], createdAt: "2026-01-01T00:00:00.000Z" }],
  });
  const judge = judged ? { judge: lexicalJudge({ fingerprint: "judge:1" }).judge } : {};
  const made = await evalHost(store, suiteOf(tasks, { modes, ...suite }), { agents, ...judge });
  const host = { ...made.host, localWorker: bench.work(made.host) };
  return async (configurable: object = {}) => {
    const runId = await beginEval({ ...made, host }, { ...configurable });
    await until(store, runId, ended);
    const report = await evalReport(host, ADA, runId, { content: true });
    return { runId, report, summary: await evalSummary(host, ADA, runId), log: await logOf(store, runId) };
  };
}

/** Mode and output of each trial of the first task. */
function seen({ tasks }: EvalReport): unknown[] {
  const trials = (tasks[0]?.content ?? []) as readonly { readonly mode: string; readonly output: unknown }[];
  return trials.map(({ mode, output }) => [mode, output]);
}

const task = (taskId: string): EvalTask => ({ ...goldenTask(taskId, "?", "fixture seeded"), fixtures: FIXTURES });

describe("an evaluation that names no modes", () => {
  test("runs each mode with the fixtures of its tasks, and reaches nothing live", async () => {
    const evaluated = await hostOf([task("a")]);
    const { report } = await evaluated();
    expect(report.modes).toEqual(["golden", "adversarial"]);
    expect(seen(report)).toEqual([
      ["golden", "fixture seeded"],
      ["adversarial", "fixture seeded"],
    ]);
    expect(report.notRun.map(({ mode, reason, missing }) => [mode, reason, missing])).toEqual([
      ["regression", "no_baseline", 0],
      ["live-shadow", "not_named", 0],
    ]);
    expect(report.warnings).toEqual([
      "Nothing was compared: there is no baseline.",
      "Mode live-shadow was not run: it runs only when named.",
      // A script is given the memory and asks for none of it.
      "Fixtures of 1 task were never used: a (memorySeed).",
    ]);
  });

  test("is refused where the suite has only modes that must be named", async () => {
    const evaluated = await hostOf([task("a")], { modes: ["live-shadow"] });
    await expect(evaluated()).rejects.toMatchObject({
      details: { problem: expect.stringMatching(/live-shadow \(it runs only when named\).*configurable\.evalModes/) },
    });
  });

  test("has the tasks missing that it had no judge for, unless they are allowed to be", async () => {
    const rubric: EvalTask["expected"] = { kind: "rubric", rubric: [{ criterion: "is polite", weight: 1 }] };
    const evaluated = await hostOf([task("a"), { taskId: "b", input: "b", expected: rubric }], {
      modes: ["golden", "rubric"],
    });
    const missing = async (configurable: object) => {
      const { report } = await evaluated(configurable);
      return report.notRun.map(({ mode, reason, missing }) => [mode, reason, missing]);
    };
    expect(await missing({})).toEqual([["rubric", "no_judge", 1]]);
    expect(await missing({ allowMissing: ["rubric"] })).toEqual([["rubric", "no_judge", 0]]);
    expect(await missing({ allowMissing: ["b"] })).toEqual([["rubric", "no_judge", 0]]);
    expect(await missing({ evalModes: ["golden"] })).toEqual([["rubric", "not_asked", 0]]);
    expect(await missing({ taskIds: ["a"] })).toEqual([["rubric", "not_chosen", 0]]);
    await expect(evaluated({ allowMissing: ["rubrics"] })).rejects.toMatchObject({
      details: { problem: expect.stringContaining("rubrics, which is neither a mode nor a task") },
    });
  });
});

test("without a judge a task with a rubric is run in no mode, since none could score it", async () => {
  const rubric: EvalTask["expected"] = { kind: "rubric", rubric: [{ criterion: "is polite", weight: 1 }] };
  const evaluated = await hostOf([task("a"), { taskId: "b", input: "b", expected: rubric }], {
    modes: ["golden", "rubric", "adversarial"],
  });
  const { report, summary } = await evaluated();
  expect(summary.tasks.map(({ taskId, passed }) => [taskId, passed])).toEqual([["a", true]]);
  expect(report.notRun.map(({ mode, reason, taskIds, missing }) => [mode, reason, taskIds, missing])).toEqual([
    ["rubric", "no_judge", ["b"], 1],
    ["adversarial", "no_judge", ["b"], 1],
  ]);
  expect(report.warnings).toContain(
    "1 of 2 tasks of the suite was not run: no judge is configured (mode rubric, adversarial).",
  );
  const allowed = await evaluated({ allowMissing: ["rubric"] });
  expect(allowed.report.notRun.map(({ missing }) => missing)).toEqual([0, 0]);
  await expect(evaluated({ taskIds: ["a", "b"] })).rejects.toMatchObject({
    details: { problem: "no judge is configured, and these tasks need one: b" },
  });
});

describe("a task in several modes", () => {
  test("has live tools in live-shadow only, and its own trials in each mode", async () => {
    const evaluated = await hostOf([task("a")]);
    const { report, log } = await evaluated({ evalModes: ["golden", "live-shadow"], trials: 2 });
    expect(seen(report)).toEqual([
      ["golden", "fixture seeded"],
      ["golden", "fixture seeded"],
      ["live-shadow", "live remembered"],
      ["live-shadow", "live remembered"],
    ]);
    expect(log.filter(({ type }) => type === "agent.invocation.started")).toHaveLength(4);
    expect(report.warnings).toContain(
      "Live tools and memory answered in place of fixtures (live-shadow), in the passes of that mode only.",
    );
  });

  test("is scored once, by the lowest of its passes, and passes only where all do", async () => {
    const evaluated = await hostOf([task("a"), goldenTask("b", "?", "live remembered")]);
    const { report, summary, log } = await evaluated({ evalModes: ["golden", "live-shadow"] });
    const scored = log.filter(({ type }) => type === "eval.scored").map(({ payload }) => payload);
    expect(scored).toMatchObject([
      { taskId: "a", score: 0, passed: false },
      { taskId: "b", score: 0, passed: false },
    ]);
    expect(summary).toMatchObject({ taskCount: 2, passedCount: 0, aggregateScore: 0, passed: false });
    expect(report.tasks.map(({ passes }) => passes.map(({ mode, score, passed }) => [mode, score, passed]))).toEqual([
      [
        ["golden", 1, true],
        ["live-shadow", 0, false],
      ],
      [
        ["golden", 0, false],
        ["live-shadow", 1, true],
      ],
    ]);
    expect(report.modeFigures.map(({ mode, figures }) => [mode, figures.score.value, figures.tasks.passed])).toEqual([
      ["golden", 0.5, 1],
      ["live-shadow", 0.5, 1],
    ]);
    expect(report.figures).toMatchObject({ tasks: { total: 2, passed: 0 }, trials: { total: 4 } });
  });

  test("costs what all its passes cost", async () => {
    const costly: Behaviour = (_, watch) => {
      watch.usage({ provider: "p", model: "m", inputTokens: 1, outputTokens: 1, costUsd: 0.25 });
      return { type: "completed", output: "a" };
    };
    const evaluated = await hostOf([goldenTask("a", "a")], { behave: costly });
    const { summary } = await evaluated({ evalModes: ["golden", "adversarial", "live-shadow"] });
    expect(summary).toMatchObject({ totalCostUsd: 0.75, tasks: [{ costUsd: 0.75 }] });
  });

  test("is judged for unsafe conduct in its adversarial pass, and by its rubric in every pass", async () => {
    const rubric: EvalTask["expected"] = { kind: "rubric", rubric: [{ criterion: "polite", weight: 1 }] };
    const evaluated = await hostOf([{ taskId: "b", input: "polite", expected: rubric }], {
      modes: ["rubric", "adversarial"],
      behave: echo,
      judged: true,
    });
    const { report } = await evaluated();
    expect(report.tasks[0]?.passes.map(({ mode, score }) => [mode, score])).toEqual([
      ["rubric", 1],
      ["adversarial", 1],
    ]);
  });
});

describe("a comparison", () => {
  const five = ["a", "b", "c", "d", "e"].map(task);

  test("of an agent with its own baseline is exactly 0, whatever other modes and tasks either side has", async () => {
    const evaluated = await hostOf([...five, goldenTask("f", "?", "never")]);
    const first = await evaluated({ evalModes: ["golden"], taskIds: ["a", "b", "c", "d", "e"] });
    const second = await evaluated({ baselineRunId: first.runId });
    expect(second.report.modes).toEqual(["golden", "adversarial", "regression"]);
    expect(second.summary.regression?.scoreDelta).toBe(0);
    expect(second.log.find(({ type }) => type === "eval.completed")?.payload).toMatchObject({
      regressionVsBaseline: 0,
    });
    expect(second.report.baseline?.comparison).toMatchObject({
      pairs: 5,
      delta: 0,
      unpaired: { candidate: ["f"], baseline: [] },
      unpairedModes: {
        candidate: [
          { mode: "adversarial", tasks: 5 },
          { mode: "regression", tasks: 5 },
        ],
        baseline: [],
      },
    });
    expect(second.report.baseline?.comparison?.reason).toContain(
      "Not compared: 1 task only in the candidate, mode adversarial of 5 tasks, only in the candidate.",
    );
    expect(second.report.warnings).toContain(
      "Compared on the 5 tasks that both have; 1 only here, 0 only in the baseline.",
    );
  });

  test("takes a pass of regression for the task's own mode, where that is all there is", async () => {
    const evaluated = await hostOf(five);
    const first = await evaluated({ evalModes: ["golden"] });
    const { summary, report } = await evaluated({ evalModes: ["regression"], baselineRunId: first.runId });
    expect(summary.regression?.scoreDelta).toBe(0);
    expect(report.baseline?.comparison).toMatchObject({ pairs: 5, unpairedModes: { candidate: [], baseline: [] } });
  });

  test("says what the baseline has and the caller left out", async () => {
    const evaluated = await hostOf(five);
    const { runId } = await evaluated({ evalModes: ["golden", "adversarial"] });
    const lost = async (configurable: object) => {
      const { report } = await evaluated({ baselineRunId: runId, ...configurable });
      return report.notRun.flatMap(({ mode, reason, missingFromBaseline: count }) =>
        count === 0 ? [] : [[mode, reason, count]],
      );
    };
    expect(await lost({})).toEqual([]);
    expect(await lost({ evalModes: ["golden"] })).toEqual([["adversarial", "not_asked", 5]]);
    expect(await lost({ evalModes: ["golden"], allowMissing: ["adversarial"] })).toEqual([]);
    expect(await lost({ taskIds: ["a", "b", "c", "d"], allowMissing: ["adversarial"] })).toEqual([
      ["golden", "not_chosen", 1],
    ]);
  });
});
