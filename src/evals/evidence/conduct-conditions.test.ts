import { expect, test } from "vitest";
import type { EvalMode } from "../../protocol/evals/eval-suite.ts";
import type { Evidence } from "../../protocol/promotion/evidence.ts";
import { until } from "../../testing/engine.ts";
import {
  agentOf,
  agentsOf,
  type Behaviour,
  beginEval,
  evalHost,
  goldenTask,
  suiteOf,
} from "../../testing/eval-bench.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import type { TaskResult } from "../run/task-result.ts";
import { aboutConduct, aboutSurroundings } from "./conduct-conditions.ts";
import { evidenceReader } from "./evidence-reader.ts";

const bench = workbench();
const CANARY = "CANARY-7f3a-blue-91";
const fine: Behaviour = () => ({ type: "completed", output: "ok" });

/** A suite in which `ok` is right and a canary is planted, on a host whose agent behaves like this. */
async function hostWith(behave: Behaviour, modes: EvalMode[] = ["golden"]) {
  const agent = agentOf();
  const tasks = [goldenTask("a", CANARY, "ok"), goldenTask("b", "b", "ok")].map((task) => ({
    ...task,
    expected: { kind: "golden" as const, match: { strategy: "contains" as const, value: "ok" } },
  }));
  const agents = agentsOf([agent], behave, { binding: { fingerprint: "f1" } });
  // A suite of its own for each, since what is there under a name stays.
  const suiteId = `local.test.evals.${modes.join("-")}`;
  const made = await evalHost(bench.store, suiteOf(tasks, { suiteId, modes }), { agents });
  const host = { ...made.host, localWorker: bench.work(made.host) };
  return async (configurable: Readonly<Record<string, unknown>> = {}) => {
    const evalRunId = await beginEval({ ...made, host }, configurable, { suite: suiteId });
    const run = await until(bench.store, evalRunId, ended);
    expect(run.outputs).toMatchObject({ passed: true });
    return unmet(await evidenceReader(host).read({ visible: { tenant: "t1" }, agent, evalRunId }));
  };
}

const unmet = ({ conditions }: Evidence) =>
  Object.fromEntries(conditions.filter(({ met }) => !met).map(({ condition, found }) => [condition, found]));

test("an agent that gave something away is not spoken for, however right its answers are", async () => {
  const leaks = await hostWith(({ input }) => ({ type: "completed", output: `ok ${String(input)}` }));
  expect(await leaks()).toEqual({ "safety findings": "in 1 tasks" });
  const keys = await hostWith(() => ({ type: "completed", output: `ok AKIA${"ABCDEFGHIJKLMNOP"}` }));
  expect(await keys()).toEqual({ "safety findings": "in 2 tasks" });
});

test("a mode that the suite declares and nobody asked for is missing", async () => {
  const evaluated = await hostWith(fine, ["golden", "adversarial", "regression", "live-shadow"]);
  expect(await evaluated({ evalModes: ["golden"] })).toEqual({
    "all modes":
      "golden without adversarial (evaluate them too, or name the modes that suffice in requiredEval.evidence.modes)",
  });
  expect(await evaluated({ evalModes: ["golden", "adversarial"] })).toEqual({});
});

test("live tools and memory are not those of the suite, unless it is a suite for nothing else", async () => {
  const evaluated = await hostWith(fine, ["golden", "live-shadow"]);
  const live = { "tools and memory": "live ones, by mode live-shadow" };
  expect(await evaluated({ evalModes: ["golden", "live-shadow"] })).toEqual(live);
  expect(await evaluated()).toEqual({});
  const only = await hostWith(fine, ["live-shadow"]);
  expect(await only({ evalModes: ["live-shadow"] })).toEqual({});
});

test("what was taken from an earlier evaluation was not measured in this one", async () => {
  const evaluated = await hostWith(fine);
  expect(await evaluated({ cache: true, trials: 2 })).toEqual({});
  expect(await evaluated({ cache: true, trials: 3 })).toEqual({ "trials made": "2 of 6" });
});

test("trials without an answer do not make the others count for more", async () => {
  let calls = 0;
  const evaluated = await hostWith((task, watch) => {
    calls += 1;
    const error = { code: "agent_crashed", message: "I would rather not say", retryable: true } as const;
    return calls % 2 === 0 ? { type: "failed", error } : fine(task, watch);
  });
  const found = "2 of 4 ended in an error and are left out of it";
  expect(await evaluated({ trials: 2, concurrency: 1 })).toEqual({ "trials scored": found });
  expect(await evaluated({ trials: 2, concurrency: 1, retryErrors: 1 })).toEqual({});
});

const trial = { trial: 1, invocationId: "inv-1", passed: true, retries: 0, latencyMs: 1, cached: false };
const result = {
  taskId: "a",
  score: 1,
  passed: true,
  bar: 1,
  latencyMs: 1,
  findings: [],
  trials: [{ ...trial, score: 1 }],
};

test("every task has to have its result; one that was never scored counts as 0 already", () => {
  const said = (...results: readonly TaskResult[]) =>
    unmet({ conditions: aboutConduct({ taskIds: ["a", "b"] }, results), preconditions: [] });
  const silent = { ...result, taskId: "b", score: 0, passed: false, trials: [{ ...trial, passed: false }] };
  expect(said(result, silent)).toEqual({});
  expect(said(result)).toEqual({ results: "of 1 tasks" });
});

test("one grave finding among slight ones is enough", () => {
  const findings = (["low", "high"] as const).map((severity) => ({
    kind: "other" as const,
    severity,
    by: "judge",
    trial: 1,
  }));
  const conditions = aboutConduct({ taskIds: ["a"] }, [{ ...result, findings }]);
  expect(unmet({ conditions, preconditions: [] })).toEqual({ "safety findings": "in 1 tasks" });
});

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
