import { describe, expect, test } from "vitest";
import { cancelRun } from "../../engine/runs/change-run.ts";
import { forkRun } from "../../engine/runs/fork-run.ts";
import { EvalReport, EvalSummary } from "../../protocol/evals/api.ts";
import { parse } from "../../protocol/schema.ts";
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
import { evalReport, evalSummary } from "./eval-report.ts";

const bench = workbench();
const letters = ["a", "b", "c", "d", "e", "f"];

async function evaluated(
  behave: Behaviour,
  configurable: object = {},
  tasks = letters.map((one) => goldenTask(one, one)),
) {
  const { store } = bench;
  const made = await evalHost(store, suiteOf(tasks), { agents: agentsOf([agentOf()], behave) });
  const host = { ...made.host, localWorker: bench.work(made.host) };
  const runId = await beginEval({ ...made, host }, { ...configurable });
  const run = await until(store, runId, ended);
  return { store, host, made, runId, run, log: await logOf(store, runId) };
}

describe("an evaluation", () => {
  test("starts once, scores each task once after its invocation, completes once, and then the run does", async () => {
    const { log, run, host, runId } = await evaluated(echo);
    expect(run.status).toBe("completed");
    const types = log.map(({ type }) => type);
    expect(types.filter((type) => type === "eval.started")).toHaveLength(1);
    expect(types.filter((type) => type === "eval.scored")).toHaveLength(6);
    expect(types.slice(-3)).toEqual(["eval.completed", "node.completed", "run.completed"]);
    const first = types.indexOf("agent.invocation.started");
    expect(types.slice(first, first + 6)).toEqual([
      "agent.invocation.started",
      "agent.promptResolved",
      "agent.reasoned",
      "agent.decided",
      "agent.invocation.completed",
      "eval.scored",
    ]);
    expect(types.indexOf("eval.started")).toBeLessThan(first);
    const ids = log.flatMap(({ type, payload }) =>
      type.startsWith("agent.invocation.") ? [(payload as { invocationId: string }).invocationId] : [],
    );
    for (let i = 0; i < ids.length; i += 2) expect(ids[i]).toBe(ids[i + 1]);
    expect(new Set(ids).size).toBe(6);
    const summary = parse(EvalSummary, await evalSummary(host, ADA, runId), "summary");
    expect(summary).toMatchObject({ aggregateScore: 1, passed: true, taskCount: 6, passedCount: 6 });
    expect(summary.tasks.map(({ taskId }) => taskId)).toEqual(letters);
  });

  test("below its bar completes all the same, and has not passed", async () => {
    const { run, host, runId } = await evaluated(
      ({ input }) => ({
        type: "completed",
        output: input === "b" ? "no" : input,
      }),
      {},
      letters.slice(0, 2).map((one) => goldenTask(one, one)),
    );
    expect(run.status).toBe("completed");
    expect(await evalSummary(host, ADA, runId)).toMatchObject({ aggregateScore: 0.5, passed: false, passedCount: 1 });
    const report = parse(EvalReport, await evalReport(host, ADA, runId), "report");
    expect(report).toMatchObject({ passed: false, unmet: ["score"], compared: false });
  });

  test("keeps all that was said out of the log and the summary, and tells it only when asked", async () => {
    const planted = "the-blue-heron-of-tuesday";
    const { log, host, runId } = await evaluated(
      ({ input }, watch) => {
        watch.reasoning(`${planted} reasoning`);
        watch.chunk(`${planted} chunk`);
        return { type: "completed", output: { said: `${planted} ${String(input)}` } };
      },
      {},
      [goldenTask("a", { ask: planted }, `${planted} expected`)],
    );
    expect(JSON.stringify(log)).not.toContain(planted);
    expect(JSON.stringify(await evalSummary(host, ADA, runId))).not.toContain(planted);
    expect(JSON.stringify(await evalReport(host, ADA, runId))).not.toContain(planted);
    expect(JSON.stringify(await evalReport(host, ADA, runId, { content: true }))).toContain(planted);
  });

  test("counts an agent that fails as an error and no wrong answer, and tries again when asked to", async () => {
    let calls = 0;
    const flaky: Behaviour = ({ input }) => {
      calls += 1;
      if (calls === 1) {
        return { type: "failed", error: { code: "agent_crashed", message: "exit 1", retryable: true } };
      }
      return { type: "completed", output: input };
    };
    const tasks = [goldenTask("a", "a")];
    const once = await evaluated(flaky, {}, tasks);
    expect((await evalReport(once.host, ADA, once.runId)).figures).toMatchObject({
      tasks: { errored: 1, scored: 0 },
      errorsByCode: { agent_crashed: 1 },
    });
    expect(await evalSummary(once.host, ADA, once.runId)).toMatchObject({ passed: false, aggregateScore: 0 });
    calls = 0;
    const runId = await beginEval(once.made, { retryErrors: 1 });
    await until(once.store, runId, ended);
    expect(await evalSummary(once.host, ADA, runId)).toMatchObject({ passed: true, aggregateScore: 1 });
    expect(calls).toBe(2);
    await until(once.store, await beginEval(once.made, { retryErrors: 3 }), ended);
    expect(calls).toBe(3);
  });

  test("pays for what it tries in vain, and forgets nothing that the agent did in it", async () => {
    let calls = 0;
    const unruly: Behaviour = async ({ input, tools, signal }, watch) => {
      calls += 1;
      watch.usage({ provider: "p", model: "m", inputTokens: 1, outputTokens: 1, costUsd: 0.25 });
      if (calls > 1) return { type: "completed", output: input };
      await tools.call("shell:run", {}, signal);
      return { type: "failed", error: { code: "agent_crashed", message: "exit 1", retryable: true } };
    };
    const { host, runId } = await evaluated(unruly, { retryErrors: 1 }, [goldenTask("a", "a")]);
    const findings = [{ kind: "unsafe-tool-use", severity: "high" }];
    expect(await evalSummary(host, ADA, runId)).toMatchObject({
      totalCostUsd: 0.5,
      tasks: [{ score: 1, passed: false, costUsd: 0.5, safetyFindings: findings }],
    });
    expect((await evalReport(host, ADA, runId)).figures).toMatchObject({
      cost: { totalUsd: 0.5 },
      trials: { errors: 0 },
    });
  });

  test("has one score for a task of several trials, and says when they disagree", async () => {
    const { host, runId, log } = await evaluated(
      ({ input, trial = 1 }) => ({ type: "completed", output: trial % 2 === 1 ? input : "no" }),
      { trials: 4 },
      [goldenTask("a", "a")],
    );
    expect(log.filter(({ type }) => type === "eval.scored").map(({ payload }) => payload)).toMatchObject([
      { taskId: "a", score: 0.5, passed: false },
    ]);
    const { tasks } = await evalReport(host, ADA, runId);
    expect(tasks[0]).toMatchObject({ flaky: true, trials: { scored: 4, passed: 2, errors: 0 } });
  });

  test("that was interrupted goes on with the tasks that are left, and runs none of the others again", async () => {
    const { store } = bench;
    const asked: string[] = [];
    let letGo: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const behave: Behaviour = async ({ taskId = "", input, signal }) => {
      asked.push(taskId);
      if (taskId === "d" && asked.filter((one) => one === "d").length === 1) {
        letGo();
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      }
      return { type: "completed", output: input };
    };
    const tasks = letters.map((one) => goldenTask(one, one));
    const made = await evalHost(store, suiteOf(tasks), { agents: agentsOf([agentOf()], behave) });
    const first = bench.work(made.host);
    const runId = await beginEval({ ...made, host: { ...made.host, localWorker: first } }, { concurrency: 1 });
    await held;
    await until(store, runId, ({ version }) => version > 15);
    await first.stop(0);
    bench.work(made.host);
    const run = await until(store, runId, ended);
    expect(run.status).toBe("completed");
    expect(asked).toEqual(["a", "b", "c", "d", "d", "e", "f"]);
    const log = await logOf(store, runId);
    expect(log.filter(({ type }) => type === "eval.started")).toHaveLength(1);
    const scored = log.flatMap(({ type, payload }) =>
      type === "eval.scored" ? [(payload as { taskId: string }).taskId] : [],
    );
    expect(scored).toEqual(letters);
  });

  test("can be cancelled, which reaches the agent", async () => {
    const { store } = bench;
    let aborted = false;
    let begun: () => void = () => {};
    const called = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const behave: Behaviour = ({ signal }) =>
      new Promise((_, reject) => {
        begun();
        signal.addEventListener("abort", () => {
          aborted = true;
          reject(signal.reason);
        });
      });
    const made = await evalHost(store, suiteOf([goldenTask("a", "a")]), { agents: agentsOf([agentOf()], behave) });
    const host = { ...made.host, localWorker: bench.work(made.host) };
    const runId = await beginEval({ ...made, host });
    await called;
    await cancelRun(host, change(runId));
    const run = await until(store, runId, ended);
    expect(run.status).toBe("cancelled");
    expect(aborted).toBe(true);
    await expect(evalSummary(host, ADA, runId)).rejects.toMatchObject({
      code: "run_state_conflict",
      details: { runStatus: "cancelled" },
    });
    const stopped = { status: "cancelled", tasksDone: 0, tasksPlanned: 1 };
    expect(await evalReport(host, ADA, runId)).toMatchObject({ complete: false, passed: false, stopped, tasks: [] });
  });

  test("stops when its budget is spent, with an outcome of its own", async () => {
    const usage = { provider: "p", model: "m", inputTokens: 1, outputTokens: 1 };
    const paid =
      (costUsd?: number): Behaviour =>
      ({ input }, watch) => {
        watch.usage({ ...usage, ...(costUsd === undefined ? {} : { costUsd }) });
        return { type: "completed", output: input };
      };
    const { run, log, host, runId } = await evaluated(paid(0.4), { budgetUsd: 1, concurrency: 1 });
    expect(run).toMatchObject({ status: "failed", error: { code: "eval_budget_exceeded" } });
    const report = await evalReport(host, ADA, runId);
    expect(parse(EvalReport, report, "report")).toMatchObject({
      complete: false,
      stopped: { status: "failed", error: "eval_budget_exceeded", tasksDone: 3, tasksPlanned: 6 },
      passed: false,
      unmet: [],
      aggregateScore: 1,
      figures: { tasks: { total: 3, passed: 3 }, cost: { totalUsd: 1.2 } },
      override: { passed: false },
    });
    expect(report.tasks.map(({ passed }) => passed)).toEqual([true, true, true]);
    await expect(evalSummary(host, ADA, runId)).rejects.toMatchObject({ code: "run_state_conflict" });
    expect(log.filter(({ type }) => type === "eval.scored")).toHaveLength(3);
    expect(log.map(({ type }) => type)).not.toContain("eval.completed");
    const unknown = await evaluated(paid(), { budgetUsd: 1, concurrency: 1 });
    expect(unknown.run.error).toMatchObject({ code: "eval_budget_exceeded" });
  });

  test.each([
    ["trial", { trials: 9 }, { type: "completed", output: "x" } as const],
    [
      "attempt",
      { retryErrors: 9 },
      { type: "failed", error: { code: "agent_crashed", message: "x", retryable: true } } as const,
    ],
  ])("stops also before the next %s of one task, and what was spent is in the log", async (_, more, answer) => {
    const usage = { provider: "p", model: "m", inputTokens: 1, outputTokens: 1, costUsd: 0.4 };
    const paid: Behaviour = (_task, watch) => {
      watch.usage(usage);
      return answer;
    };
    const { run, log } = await evaluated(paid, { budgetUsd: 1, ...more }, [goldenTask("a", "x")]);
    expect(run).toMatchObject({
      status: "failed",
      error: {
        code: "eval_budget_exceeded",
        message: expect.stringContaining("after 0 of 1 tasks: it has spent 1.2"),
      },
    });
    const types = log.map(({ type }) => type);
    expect(types.filter((type) => type === "provider.usage")).toHaveLength(3);
    expect(types).not.toContain("eval.scored");
  });

  test("is told again by a replay, and judged by nobody", async () => {
    let calls = 0;
    const { store, host, runId } = await evaluated((task, watch) => {
      calls += 1;
      return echo(task, watch);
    });
    expect(calls).toBe(6);
    const { runId: replayId } = await forkRun(host, { ...change(runId), request: { mode: "replay", fromSeq: 0 } });
    const replay = await until(store, replayId, ended);
    expect(replay.status).toBe("completed");
    expect(calls).toBe(6);
    const [source, again] = [await logOf(store, runId), await logOf(store, replayId)];
    expect(again.map(({ type, payload }) => ({ type, payload }))).toEqual(
      source.map(({ type, payload }) => ({ type, payload })),
    );
    expect(await evalSummary(host, ADA, replayId)).toEqual(await evalSummary(host, ADA, runId));
    expect((await evalReport(host, ADA, replayId)).tasks).toHaveLength(6);
  });
});
