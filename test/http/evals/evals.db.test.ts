import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EvalReport, EvalSummary } from "../../../src/protocol/evals/api.ts";
import { EvalPage } from "../../../src/protocol/evals/baselines.ts";
import { matches, parse } from "../../../src/protocol/schema.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import {
  AGENT_ID,
  agentOf,
  agentsOf,
  EVAL_SETTINGS,
  echo,
  goldenTask,
  suiteOf,
} from "../../../src/testing/eval-bench.ts";
import { type EvalServer, evalServer } from "../../../src/testing/eval-server.ts";
import { expectError, type Who } from "../../../src/testing/host.ts";

const EVALS = "/v1/host/assay/evals";
const SUITE = suiteOf(["a", "b", "c", "d", "e", "f"].map((one) => goldenTask(one, one)));
const REF = `${SUITE.suiteId}@${SUITE.version}`;
const OTHER = "local.test.other";
const PLANTED = "the words that nobody may read";

describe.each(HTTP_STORES)("evaluations on %s", (_, open) => {
  let host: EvalServer;
  let drop: () => Promise<void>;
  let hold: Promise<void> | undefined;
  let release = () => {};

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    const agents = agentsOf(
      [agentOf(), agentOf({ agentId: OTHER, taskSchema: { type: "object" } })],
      async (task, watch) => {
        if (task.taskId === "slow") await hold;
        task.signal.throwIfAborted();
        return task.taskId === "wrong" ? { type: "completed", output: PLANTED } : echo(task, watch);
      },
    );
    const settings = { ...EVAL_SETTINGS, maxTasksPerSuite: 8, maxCostUsdPerSuite: 5 };
    host = await evalServer(opened.store, { agents, settings });
    await host.keep(SUITE);
  });
  afterAll(async () => {
    release();
    await host.close();
    await drop();
  });

  const get = (url: string, as: Who = "owner") => host.ask("GET", url, { as });
  const summaryOf = (runId: string, as: Who = "owner") => get(`/v1/runs/${runId}/eval-summary`, as);
  const named = (name: string, more: Partial<typeof SUITE> = {}) =>
    suiteOf(SUITE.tasks, { suiteId: `local.test.evals.${name}`, ...more });

  test("an evaluation is a run, and its summary and report are read when it has completed", async () => {
    const created = await host.start({ evalSuiteRef: REF, configurable: { evalModes: ["golden"] } });
    expect(created.statusCode).toBe(201);
    expect(created.json()).toMatchObject({ status: "pending" });
    const runId = await host.evaluate(SUITE);
    const summary = (await summaryOf(runId)).json();
    expect(matches(EvalSummary, summary)).toBe(true);
    expect(summary).toMatchObject({ suiteId: SUITE.suiteId, passed: true, taskCount: 6, passedCount: 6 });
    const report = (await get(`${EVALS}/${runId}/report`)).json();
    expect(matches(EvalReport, report)).toBe(true);
    expect(report).toMatchObject({ agentId: AGENT_ID, compared: false, trialsPerTask: 1 });
  });

  describe("is refused before there is a run", () => {
    const refused = async (body: object, code: "validation_error" | "not_found", says: RegExp, as: Who = "owner") => {
      const before = (await get(EVALS)).json().evals.length;
      const answer = await host.start({ evalSuiteRef: REF, ...body }, as);
      expectError(answer, code);
      expect(answer.json().message).toMatch(says);
      expect((await get(EVALS)).json().evals).toHaveLength(before);
    };

    test("without a suite or an agent", async () => {
      await refused({ evalSuiteRef: undefined }, "validation_error", /evalSuiteRef is missing/);
      await refused({ agentId: undefined }, "validation_error", /agentId is missing/);
    });
    test("with a workflow or inputs of its own", async () => {
      await refused({ workflowId: "noop" }, "validation_error", /neither workflowId nor inputs/);
      await refused({ inputs: {} }, "validation_error", /neither workflowId nor inputs/);
    });
    test("with a model or answers of its own, which say nothing of the agent", async () => {
      for (const configurable of [{ ai: { provider: "openai", model: "better" } }, { temperature: 0 }]) {
        await refused({ configurable }, "validation_error", /evaluates the agent as it is bound/);
      }
      const mocked = await host.start({ evalSuiteRef: REF, configurable: { mockProvider: { id: "flattery" } } });
      expectError(mocked, "unsupported_mock_provider");
    });
    test("with a suite that is not there, or is another tenant's", async () => {
      await refused({ evalSuiteRef: "local.test.evals.none@1.0.0" }, "not_found", /no suite/);
      await refused({ evalSuiteRef: "local.test.evals.echo@9.9.9" }, "not_found", /no suite/);
      await host.keep(named("theirs"), "other");
      await refused({ evalSuiteRef: "local.test.evals.theirs@1.0.0" }, "not_found", /no suite/);
      await refused({ evalSuiteRef: "not a suite" }, "validation_error", /suite/);
    });
    test("with a suite that is not one: it is refused when it is brought", async () => {
      const bad = { ...SUITE, suiteId: "local.test.evals.bad", tasks: [] };
      const url = "/v1/host/assay/suites/local.test.evals.bad@1.0.0";
      expectError(await host.ask("PUT", url, { json: bad }), "validation_error");
      await refused({ evalSuiteRef: "local.test.evals.bad@1.0.0" }, "not_found", /no suite/);
    });
    test("in a mode that the suite does not declare or the host does not serve", async () => {
      await refused({ configurable: { evalModes: ["adversarial"] } }, "validation_error", /does not declare mode/);
      await refused({ configurable: { evalModes: ["sideways"] } }, "validation_error", /evalModes/);
      const rubric = { criterion: "is kind", weight: 1 };
      const judged = named("judged", {
        modes: ["rubric"],
        tasks: [{ taskId: "a", input: "a", expected: { kind: "rubric", rubric: [rubric] } }],
      });
      await host.keep(judged);
      const configurable = { evalModes: ["rubric"] };
      await refused({ evalSuiteRef: judged.suiteId, configurable }, "validation_error", /does not serve mode rubric/);
      await refused(
        { evalSuiteRef: judged.suiteId },
        "validation_error",
        /no mode that can run now: it declares rubric \(no judge is configured\)/,
      );
    });
    test("with more tasks than the host takes", async () => {
      const large = named("large", { tasks: Array.from({ length: 9 }, (_, i) => goldenTask(`t${i}`, i)) });
      await host.keep(large);
      await refused({ evalSuiteRef: large.suiteId }, "validation_error", /9 tasks.*8 at most/);
    });
    test("with a projected cost above what the host spends", async () => {
      const dear = named("dear", { thresholds: { maxCostUsd: 6 } });
      await host.keep(dear);
      await refused({ evalSuiteRef: dear.suiteId }, "validation_error", /may cost 6 USD/);
      await refused({ configurable: { budgetUsd: 6 } }, "validation_error", /budgetUsd is 6/);
      expect((await host.start({ evalSuiteRef: dear.suiteId, configurable: { budgetUsd: 4 } })).statusCode).toBe(201);
    });
    test("with an agent, or a version of one, that is not installed", async () => {
      await refused({ agentId: "local.test.nobody" }, "not_found", /no agent/);
      await refused({ configurable: { agentVersion: "9.9.9" } }, "not_found", /no version 9\.9\.9/);
    });
    test("with an agent of another model class, or that the suite is not made for", async () => {
      const coding = named("coding", { allowedModels: ["coding"] });
      await host.keep(coding);
      await refused({ evalSuiteRef: coding.suiteId }, "validation_error", /is of class general/);
      const targeted = named("targeted", { targetAgentId: OTHER });
      await host.keep(targeted);
      await refused({ evalSuiteRef: targeted.suiteId }, "validation_error", /made for local.test.other/);
    });
    test("as a regression without a usable baseline", async () => {
      const compared = named("compared", { modes: ["golden", "regression"] });
      const evalSuiteRef = compared.suiteId;
      const regression = { evalModes: ["regression"] };
      const runId = await host.evaluate(compared);
      const elsewhere = await host.evaluate(named("elsewhere"));
      const theirs = await host.evaluate(compared, {}, "other").catch(() => "run-none");
      const cases: readonly (readonly [object, RegExp])[] = [
        [{}, /needs a baseline/],
        [{ baselineRunId: "run-none" }, /no evaluation that can serve/],
        [{ baselineRunId: theirs }, /no evaluation that can serve/],
        [{ baselineRunId: await host.newRun() }, /no evaluation that can serve/],
        [{ baselineRunId: elsewhere }, /is of suite local.test.evals.elsewhere/],
        [{ baseline: "main" }, /no baseline "main"/],
        [{ baseline: "main", baselineRunId: runId }, /not both/],
      ];
      for (const [configurable, says] of cases) {
        await refused({ evalSuiteRef, configurable: { ...regression, ...configurable } }, "validation_error", says);
      }
      const answer = await host.start({ evalSuiteRef, configurable: { ...regression, baselineRunId: runId } });
      expect(answer.statusCode).toBe(201);
    });
    test("with inputs that the agent does not take", async () => {
      await refused({ agentId: OTHER }, "validation_error", /input of a task is not one that local.test.other takes/);
    });
    test("with nothing left to evaluate", async () => {
      await refused({ configurable: { taskIds: [] } }, "validation_error", /no task is left/);
      await refused({ configurable: { taskIds: ["zzz"] } }, "validation_error", /zzz/);
    });
    test("without the scope", async () => {
      expectError(await host.start({ evalSuiteRef: REF }, "viewer"), "forbidden");
    });
  });

  test("a summary is 404 for what is no evaluation or nobody's business, and 409 until it has completed", async () => {
    hold = new Promise((resolve) => {
      release = resolve;
    });
    const slow = named("slow", { tasks: [goldenTask("slow", "s")] });
    await host.keep(slow);
    const { runId } = (await host.start({ evalSuiteRef: slow.suiteId })).json();
    const early = expectError(await summaryOf(runId), "run_state_conflict");
    expect(early["runStatus"]).not.toBe("completed");
    expectError(await get(`${EVALS}/${runId}/report`), "run_state_conflict");
    expectError(await summaryOf(runId, "other"), "not_found");
    expectError(await get(`${EVALS}/${runId}/report`, "other"), "not_found");
    expectError(await summaryOf(await host.newRun()), "not_found");
    expectError(await summaryOf("run-none"), "not_found");
    await host.ask("POST", `/v1/runs/${runId}/cancel`, { json: {} });
    release();
    await expect
      .poll(async () => (await get(`/v1/runs/${runId}`)).json().status, { timeout: 30_000 })
      .toBe("cancelled");
    expect(expectError(await summaryOf(runId), "run_state_conflict")).toMatchObject({ runStatus: "cancelled" });
    const part = (await get(`${EVALS}/${runId}/report`)).json();
    expect(matches(EvalReport, part)).toBe(true);
    expect(part).toMatchObject({ complete: false, stopped: { status: "cancelled", tasksDone: 0, tasksPlanned: 1 } });
    expectError(await get(`${EVALS}/${runId}/report`, "other"), "not_found");
  });

  test("what was answered is in the report on request, and nowhere else", async () => {
    const suite = named("content", { tasks: [goldenTask("wrong", "asked in confidence", "expected in confidence")] });
    const runId = await host.evaluate(suite);
    const texts = [PLANTED, "asked in confidence", "expected in confidence"];
    const open = [summaryOf(runId), get(`${EVALS}/${runId}/report`), get(EVALS), get(`/v1/runs/${runId}`)];
    const log = host.ask("GET", `/v1/runs/${runId}/events`, { headers: { accept: "application/json" } });
    for (const answer of await Promise.all([...open, log])) {
      expect(answer.statusCode).toBe(200);
      for (const text of texts) expect(answer.body).not.toContain(text);
    }
    const told = await get(`${EVALS}/${runId}/report?content=true`);
    expect(told.body).toContain(PLANTED);
    expect(parse(EvalReport, told.json(), "report").tasks).toHaveLength(1);
  });

  test("evaluations are listed newest first, page by page, by suite and agent", async () => {
    const suite = named("listed");
    const runs: string[] = [];
    for (let i = 0; i < 3; i++) runs.unshift(await host.evaluate(suite));
    const list = async (query: string, as: Who = "owner"): Promise<EvalPage> =>
      (await get(`${EVALS}?${query}`, as)).json();
    const of = `suiteId=${suite.suiteId}`;
    const all = await list(of);
    expect(matches(EvalPage, all)).toBe(true);
    expect(all.evals.map(({ runId }) => runId)).toEqual(runs);
    expect(all.evals[0]).toMatchObject({ status: "completed", passed: true, taskCount: 6, passedCount: 6 });
    const first = await list(`${of}&limit=2`);
    expect(first.evals).toHaveLength(2);
    const rest = await list(`${of}&limit=2&cursor=${first.nextCursor}`);
    expect(rest.evals.map(({ runId }) => runId)).toEqual(runs.slice(2));
    expect((await list(`${of}&agentId=local.test.nobody`)).evals).toEqual([]);
    expect((await list("status=failed")).evals).toEqual([]);
    expect((await list("", "other")).evals.map(({ runId }) => runId)).not.toContain(runs[0]);
    expectError(await get(`${EVALS}?cursor=zzz`), "validation_error");
  });

  test("a workspace sees its own evaluations only", async () => {
    const runId = await host.evaluate(named("of-east"), {}, "east");
    expect((await summaryOf(runId, "east")).statusCode).toBe(200);
    expect((await summaryOf(runId)).statusCode).toBe(200);
    expectError(await summaryOf(runId, "west"), "not_found");
    const list: EvalPage = (await get(EVALS, "west")).json();
    expect(list.evals).toEqual([]);
  });

  test("the seam carries out a real evaluation", async () => {
    const ask = (json: object, as: Who = "owner") => host.ask("POST", "/v1/host/sample/agents/eval-run", { json, as });
    const answer = await ask({ modes: ["golden"], taskCount: 3 });
    expect(answer.json()).toMatchObject({ taskCount: 3, passed: true, aggregateScore: 1 });
    const { runId } = answer.json();
    expect((await summaryOf(runId)).json()).toMatchObject({ taskCount: 3, passedCount: 3 });
    const { events } = (await get(`/v1/host/sample/test/runs/${runId}/events?type=eval.scored`)).json();
    expect(events).toHaveLength(3);
    const compared = (await ask({ modes: ["regression"] })).json();
    expect((await summaryOf(compared.runId)).json().regression).toMatchObject({ scoreDelta: 0 });
    expectError(await summaryOf(runId, "other"), "not_found");
    expectError(await ask({ agentId: "local.test.nobody" }), "not_found");
    expectError(await ask({ modes: ["rubric"] }), "validation_error");
    expect((await host.app.inject({ method: "POST", url: "/v1/host/sample/agents/eval-run" })).statusCode).toBe(401);
  });
});
