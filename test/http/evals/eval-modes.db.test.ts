import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EvalReport, EvalSummary } from "../../../src/protocol/evals/api.ts";
import { BaselineFile } from "../../../src/protocol/evals/baselines.ts";
import type { EvalMode, EvalTask } from "../../../src/protocol/evals/eval-suite.ts";
import { parse } from "../../../src/protocol/schema.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import {
  agentOf,
  agentsOf,
  type Behaviour,
  EVAL_SETTINGS,
  goldenTask,
  suiteOf,
} from "../../../src/testing/eval-bench.ts";
import { type EvalServer, evalServer } from "../../../src/testing/eval-server.ts";

const EVALS = "/v1/host/assay/evals";
const FIXTURES = { toolResponses: [{ tool: "crm:find", response: "fixture" }] };
const five = ["a", "b", "c", "d", "e"].map(
  (id): EvalTask => ({ ...goldenTask(id, id, "fixture"), fixtures: FIXTURES }),
);
const RUBRIC: EvalTask = {
  taskId: "judged",
  input: "?",
  expected: { kind: "rubric", rubric: [{ criterion: "is kind", weight: 1 }] },
};
const SUITE = suiteOf([...five, RUBRIC], {
  suiteId: "local.test.evals.modes",
  modes: ["golden", "rubric", "live-shadow"],
});
const PLAIN = suiteOf(five, { suiteId: "local.test.evals.plain", modes: ["golden", "adversarial", "regression"] });

/** Answers with what its tool says. */
const witness: Behaviour = async ({ tools, signal }) => {
  const answer = await tools.call("crm:find", {}, signal);
  return { type: "completed", output: answer.status === "ok" ? answer.outcome : answer.status };
};

describe.each(HTTP_STORES)("modes of an evaluation on %s", (_, open) => {
  let host: EvalServer;
  let store: Store;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const opened = await open();
    ({ store, drop } = opened);
    const agents = agentsOf([agentOf({ toolAllowlist: ["crm:find"] })], witness, {
      toolsFor: async () => ({
        tools: [{ name: "crm:find" }],
        call: async () => ({ status: "ok", outcome: "live" }),
      }),
    });
    host = await evalServer(store, { agents, settings: EVAL_SETTINGS });
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const reportOf = async (runId: string) =>
    parse(EvalReport, (await host.ask("GET", `${EVALS}/${runId}/report`)).json(), "report");
  const summaryOf = async (runId: string) =>
    parse(EvalSummary, (await host.ask("GET", `/v1/runs/${runId}/eval-summary`)).json(), "summary");
  const scored = async (runId: string) => {
    const { events } = (await host.ask("GET", `/v1/runs/${runId}/events/poll?limit=1000`)).json();
    return events.filter(({ type }: { type: string }) => type === "eval.scored");
  };

  test("a request that names none keeps golden tasks on their fixtures, and says what was not run", async () => {
    const runId = await host.evaluate(SUITE);
    expect(await summaryOf(runId)).toMatchObject({ taskCount: 5, passedCount: 5, passed: true });
    const { modes, notRun, warnings } = await reportOf(runId);
    expect(modes).toEqual(["golden"]);
    expect(notRun).toMatchObject([
      { mode: "rubric", reason: "no_judge", taskIds: ["judged"], missing: 1 },
      { mode: "live-shadow", reason: "not_named", missing: 0 },
    ]);
    expect(warnings).toEqual([
      "1 of 6 tasks of the suite was not run: no judge is configured (mode rubric).",
      "Mode live-shadow was not run: it runs only when named.",
    ]);
  });

  test("each mode is a pass of its own, and a task is scored once by the lowest of them", async () => {
    const evalModes: EvalMode[] = ["golden", "live-shadow"];
    const runId = await host.evaluate(SUITE, { evalModes, taskIds: ["a", "b"] });
    const { tasks, modeFigures } = await reportOf(runId);
    expect(tasks.map(({ score, passes }) => [score, passes.map((pass) => [pass.mode, pass.score])])).toEqual(
      ["a", "b"].map(() => [
        0,
        [
          ["golden", 1],
          ["live-shadow", 0],
        ],
      ]),
    );
    expect(modeFigures.map(({ mode, figures }) => [mode, figures.score.value])).toEqual([
      ["golden", 1],
      ["live-shadow", 0],
    ]);
    expect(await summaryOf(runId)).toMatchObject({ taskCount: 2, passedCount: 0, aggregateScore: 0 });
    expect(await scored(runId)).toHaveLength(2);
  });

  test("an agent is exactly as good as its own baseline, in the tasks and modes that both have", async () => {
    const wider = { ...PLAIN, suiteId: "local.test.evals.wider", tasks: [...five, goldenTask("f", "f", "never")] };
    const before = await host.evaluate(wider, { evalModes: ["golden"], taskIds: ["a", "b", "c", "d", "e"] });
    const runId = await host.evaluate(wider, { baselineRunId: before });
    expect((await summaryOf(runId)).regression).toMatchObject({ baselineRunId: before, scoreDelta: 0 });
    const { modes, baseline } = await reportOf(runId);
    expect(modes).toEqual(["golden", "adversarial", "regression"]);
    expect(baseline?.comparison).toMatchObject({ pairs: 5, delta: 0, unpaired: { candidate: ["f"], baseline: [] } });
  });

  test("results of an earlier version are one pass: they are shown, compared with and exported", async () => {
    const before = await host.evaluate(PLAIN);
    const documents = await store.listDocuments("t1", "eval-task", { prefix: `${before}/`, limit: 100 });
    expect(documents).toHaveLength(5);
    for (const document of documents) {
      const result = JSON.parse(document.body);
      const [{ mode: __, ...trial }] = result.trials;
      const body = JSON.stringify({ ...result, trials: [trial] });
      const put = { type: "put" as const, document: { ...document, revision: document.revision + 1, body } };
      expect(await store.commit({ tenant: document.tenant, documents: [put] })).toMatchObject({ ok: true });
    }
    const { tasks, modeFigures } = await reportOf(before);
    expect(tasks.map(({ score, passes }) => [score, passes])).toEqual(five.map(() => [1, []]));
    expect(modeFigures).toEqual([]);
    const runId = await host.evaluate(PLAIN, { baselineRunId: before });
    expect((await summaryOf(runId)).regression?.scoreDelta).toBe(0);
    expect((await reportOf(runId)).baseline?.comparison).toMatchObject({ pairs: 5, delta: 0 });
    const url = `/v1/host/assay/eval-baselines/${PLAIN.suiteId}/old`;
    expect((await host.ask("PUT", url, { json: { runId: before } })).statusCode).toBe(200);
    const secret = `/v1/host/assay/eval-baselines/${PLAIN.suiteId}/ghp_aB3dE6gH9jK2mN5paB3dE6gH9jK2mN5paB3d`;
    expect((await host.ask("PUT", secret, { json: { runId: before } })).statusCode).toBe(400);
    const file = parse(BaselineFile, (await host.ask("GET", `${url}/file`)).json(), "file");
    expect(file.tasks[0]).not.toHaveProperty("passes");
  });
});
