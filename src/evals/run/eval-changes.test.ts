import { describe, expect, test } from "vitest";
import { forkRun } from "../../engine/runs/fork-run.ts";
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
import { change, ended, workbench } from "../../testing/workbench.ts";
import { loadSuite, requireSuite } from "../suite/load-suite.ts";
import { keepDraft } from "../suite/replace-suite.ts";
import { evalReport, evalSummary } from "./eval-report.ts";
import { setBaseline } from "./named-baselines.ts";

const bench = workbench();
const suite = suiteOf([goldenTask("a", "a"), goldenTask("b", "b")], { modes: ["golden", "regression"] });

describe("an evaluation that is gone on with", () => {
  test("does not go on with another agent under the name of the one it was begun with", async () => {
    const calls: unknown[] = [];
    const noting: Behaviour = (task, watch) => {
      calls.push(task.input);
      return echo(task, watch);
    };
    const made = await evalHost(bench.store, suite, { agents: agentsOf([agentOf()], noting) });
    const runId = await beginEval(made);
    const changed = agentsOf([agentOf({ contentHash: "f".repeat(64) })], noting);
    bench.work((await evalHost(bench.store, suite, { agents: changed })).host);
    expect(await until(bench.store, runId, ended)).toMatchObject({
      status: "failed",
      error: { code: "eval_agent_changed" },
    });
    expect(calls).toEqual([]);
  });

  test("does not go on with other tasks under the name of those it was begun with", async () => {
    const made = await evalHost(bench.store, suite, { agents: agentsOf([agentOf()], echo) });
    const runId = await beginEval(made);
    const other = Buffer.from(JSON.stringify({ ...suite, tasks: [goldenTask("a", "other")] }));
    await keepDraft(made.host, ADA, requireSuite(loadSuite(other), "the suite"));
    bench.work(made.host);
    expect(await until(bench.store, runId, ended)).toMatchObject({
      status: "failed",
      error: { code: "eval_suite_changed" },
    });
  });
});

test("an evaluation is told by the suite it was made with, also when another one has its name by now", async () => {
  const behave: Behaviour = ({ input }) => ({ type: "completed", output: input === "b" ? "no" : input });
  const lenient = { ...suite, thresholds: { passScore: 0.5 } };
  const made = await evalHost(bench.store, lenient, { agents: agentsOf([agentOf()], behave) });
  bench.work(made.host);
  const runId = await beginEval(made);
  await until(bench.store, runId, ended);
  const strict = Buffer.from(JSON.stringify({ ...suite, thresholds: { passScore: 1 } }));
  await keepDraft(made.host, ADA, requireSuite(loadSuite(strict), "the suite"));
  expect(await evalReport(made.host, ADA, runId)).toMatchObject({
    passed: true,
    unmet: [],
    override: { passed: true },
  });
});

test("an evaluation with a baseline names it where it starts, and how far it is from it where it ends", async () => {
  let wrong = "none";
  const behave: Behaviour = ({ input }) => ({ type: "completed", output: input === wrong ? "no" : input });
  const made = await evalHost(bench.store, suite, { agents: agentsOf([agentOf()], behave) });
  bench.work(made.host);
  const baselineRunId = await beginEval(made);
  await until(bench.store, baselineRunId, ended);
  wrong = "b";
  const runId = await beginEval(made, { baselineRunId });
  await until(bench.store, runId, ended);
  const told = (await logOf(bench.store, runId)).flatMap(({ type, payload }) =>
    type === "eval.started" || type === "eval.completed" ? [payload] : [],
  );
  expect(told).toMatchObject([{ baselineRunId }, { aggregateScore: 0.5, regressionVsBaseline: -0.5 }]);
  expect((await evalSummary(made.host, ADA, runId)).regression).toMatchObject({ baselineRunId, scoreDelta: -0.5 });
});

test("a host that does not serve evaluations begins none", async () => {
  const made = await evalHost(bench.store, suite, { agents: agentsOf([agentOf()], echo) });
  const capabilities = new Set([...made.host.capabilities].filter((one) => one !== "evalSuite"));
  await expect(beginEval({ ...made, host: { ...made.host, capabilities } })).rejects.toMatchObject({
    code: "capability_not_provided",
    status: 501,
  });
});

test("a replay judged nothing itself, and is no baseline", async () => {
  const made = await evalHost(bench.store, suite, { agents: agentsOf([agentOf()], echo) });
  const host = { ...made.host, localWorker: bench.work(made.host) };
  const runId = await beginEval({ ...made, host });
  await until(bench.store, runId, ended);
  const { runId: replayId } = await forkRun(host, { ...change(runId), request: { mode: "replay", fromSeq: 0 } });
  await until(bench.store, replayId, ended);
  const id = { suiteId: suite.suiteId, name: "main" };
  await expect(setBaseline(host, ADA, id, { runId: replayId })).rejects.toThrow(
    /is a replay and judged nothing itself/,
  );
  expect(await setBaseline(host, ADA, id, { runId })).toMatchObject({ runId, name: "main" });
});
