import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { baselineFileOf } from "../../../src/formats/evals/baseline-file.ts";
import { BaselineFile, BaselinePage, EvalBaseline } from "../../../src/protocol/evals/baselines.ts";
import type { AgentEvalSuite } from "../../../src/protocol/evals/eval-suite.ts";
import { matches } from "../../../src/protocol/schema.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { agentOf, agentsOf, EVAL_SETTINGS, echo, goldenTask, suiteOf } from "../../../src/testing/eval-bench.ts";
import { type EvalServer, evalServer } from "../../../src/testing/eval-server.ts";
import { expectError, type Who } from "../../../src/testing/host.ts";

const EVALS = "/v1/host/assay/evals";
const BASELINES = "/v1/host/assay/eval-baselines";
const TASKS = ["a", "b", "c", "d", "e", "f"].map((one) => goldenTask(one, one));
const suiteNamed = (name: string, more: Partial<AgentEvalSuite> = {}) =>
  suiteOf(TASKS, { suiteId: `local.test.evals.${name}`, ...more });

describe.each(HTTP_STORES)("a baseline on %s", (_, open) => {
  let host: EvalServer;
  let drop: () => Promise<void>;
  let hold: Promise<void> | undefined;
  let release = () => {};

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    const agents = agentsOf([agentOf()], async (task, watch) => {
      if (task.taskId === "slow") await hold;
      task.signal.throwIfAborted();
      return echo(task, watch);
    });
    host = await evalServer(opened.store, { agents, settings: EVAL_SETTINGS });
  });
  afterAll(async () => {
    release();
    await host.close();
    await drop();
  });

  const get = (url: string, as: Who = "owner") => host.ask("GET", url, { as });
  const suite = suiteNamed("blessed", { modes: ["golden", "regression"] });
  const url = (name: string) => `${BASELINES}/${suite.suiteId}/${name}`;
  const set = (name: string, runId: string, as: Who = "owner") => host.ask("PUT", url(name), { json: { runId }, as });

  test("is set by name with who and when, used by name, replaced and taken away", async () => {
    const runId = await host.evaluate(suite);
    const blessed = await set("main", runId);
    expect(blessed.statusCode).toBe(200);
    expect(matches(EvalBaseline, blessed.json())).toBe(true);
    expect(blessed.json()).toMatchObject({ name: "main", runId, setBy: "ada", aggregateScore: 1, taskCount: 6 });
    expect((await get(url("main"))).json()).toEqual(blessed.json());
    const after = await host.evaluate(suite, { baseline: "main" });
    const report = (await get(`${EVALS}/${after}/report`)).json();
    expect(report).toMatchObject({ compared: true, baseline: { runId, name: "main", comparison: { pairs: 6 } } });
    expect((await get(`/v1/runs/${after}/eval-summary`)).json().regression).toMatchObject({
      baselineRunId: runId,
      scoreDelta: 0,
    });
    expect((await set("main", after)).json()).toMatchObject({ runId: after, replacedRunId: runId });
    const { entries } = (await get("/v1/host/assay/audit/entries?limit=1000")).json();
    const target = `${suite.suiteId}/main`;
    expect(entries).toContainEqual(expect.objectContaining({ action: "baseline.set", target, actor: "ada" }));
    expect((await host.ask("DELETE", url("main"))).statusCode).toBe(204);
    expectError(await get(url("main")), "not_found");
    expectError(await host.ask("DELETE", url("main")), "not_found");
  });

  test("is an evaluation of the suite that has completed", async () => {
    const runId = await host.evaluate(suiteNamed("elsewhere"));
    expectError(await set("main", runId), "validation_error");
    expectError(await set("main", await host.newRun()), "validation_error");
    expectError(await set("main", "run-none"), "not_found");
    expectError(await set("run-main", await host.evaluate(suite)), "validation_error");
    hold = new Promise((resolve) => {
      release = resolve;
    });
    const slow = suiteNamed("slow", { tasks: [goldenTask("slow", "s")] });
    await host.keep(slow);
    const { runId: unfinished } = (await host.start({ evalSuiteRef: slow.suiteId })).json();
    const early = await host.ask("PUT", `${BASELINES}/${slow.suiteId}/main`, { json: { runId: unfinished } });
    expectError(early, "run_state_conflict");
    release();
    expectError(await get(url("main")), "not_found");
  });

  test("travels as a file, which is compared with where it was kept and nowhere else", async () => {
    const runId = await host.evaluate(suite);
    await set("sent", runId);
    const file = (await get(`${url("sent")}/file`)).json();
    expect(matches(BaselineFile, file)).toBe(true);
    expectError(await get(`${url("none")}/file`), "not_found");
    expectError(await get(`${url("sent")}/file`, "other"), "not_found");
    const { sha256: fileSha256 } = file;
    const keep = (json: object, as: Who = "owner", sha256: string = fileSha256) =>
      host.ask("PUT", `/v1/host/assay/eval-baseline-files/${sha256}`, { json, as });
    const byFile = { fileSha256 };
    const name = (json: object, as: Who = "owner") => host.ask("PUT", url("received"), { json, as });
    await host.keep(suite, "other");
    const start = (configurable: object, as: Who = "owner") =>
      host.start({ evalSuiteRef: suite.suiteId, configurable }, as);
    expectError(await start({ baselineFileSha256: fileSha256 }), "validation_error");
    expectError(await name(byFile), "not_found");

    expectError(await keep({ ...file, aggregateScore: 0 }), "validation_error");
    expectError(await keep({ ...file, version: 3 }), "validation_error");
    expectError(await keep(file, "owner", "0".repeat(64)), "validation_error");
    const { sha256: _, ...content } = file;
    const leaky = baselineFileOf({ ...content, setBy: `ghp_${"a1B2".repeat(9)}` });
    expect(expectError(await keep(leaky, "owner", leaky.sha256), "validation_error")["problem"]).toContain("secret");
    expectError(await keep(file, "viewer"), "forbidden");
    expect((await keep(file)).json()).toEqual({ fileSha256 });
    expect((await keep(file)).statusCode).toBe(200);
    expectError(await start({ baselineFileSha256: fileSha256 }, "other"), "validation_error");
    expectError(await name(byFile, "other"), "not_found");
    expectError(await name(byFile, "east"), "not_found");
    expectError(await name(byFile, "viewer"), "forbidden");
    expectError(await name({ ...byFile, runId }), "validation_error");
    expectError(await name({}), "validation_error");
    expectError(
      await host.ask("PUT", `${BASELINES}/local.test.evals.elsewhere/x`, { json: byFile }),
      "validation_error",
    );

    const received = (await name(byFile)).json();
    expect(matches(EvalBaseline, received)).toBe(true);
    expect(received).toMatchObject({ runId, setBy: "ada", imported: { fileSha256, name: "sent", setBy: "ada" } });
    expect((await get(`${url("received")}/file`)).json()).toEqual(file);
    const { baselines } = (await get(`${BASELINES}?suiteId=${suite.suiteId}`)).json<BaselinePage>();
    expect(baselines.filter(({ imported }) => imported !== undefined).map((one) => one.name)).toEqual(["received"]);
    const both = await start({ baseline: "received", baselineFileSha256: fileSha256 });
    expect(expectError(both, "validation_error")["problem"]).toContain("not both");
    for (const configurable of [{ baseline: "received" }, { baselineFileSha256: fileSha256 }]) {
      const after = await host.evaluate(suite, configurable);
      const report = (await get(`${EVALS}/${after}/report`)).json();
      expect(report).toMatchObject({ compared: true, baseline: { runId, fileSha256, comparison: { pairs: 6 } } });
      // There is no run here to show the difference to.
      const { regression } = (await get(`/v1/runs/${after}/eval-summary`)).json();
      expect(regression).toEqual({ baselineRunId: runId, scoreDelta: 0 });
    }
    for (const one of ["sent", "received"]) expect((await host.ask("DELETE", url(one))).statusCode).toBe(204);
  });

  test("is listed, and seen, where it was set", async () => {
    const runId = await host.evaluate(suite);
    await set("one", runId);
    await set("two", runId);
    const list = async (query = "", as: Who = "owner"): Promise<BaselinePage> =>
      (await get(`${BASELINES}?${query}`, as)).json();
    const first = await list(`suiteId=${suite.suiteId}&limit=1`);
    expect(matches(BaselinePage, first)).toBe(true);
    expect(first.baselines.map(({ name }) => name)).toEqual(["one"]);
    const rest = await list(`suiteId=${suite.suiteId}&cursor=${first.nextCursor}`);
    expect(rest.baselines.map(({ name }) => name)).toEqual(["two"]);
    expect(rest.nextCursor).toBeUndefined();
    expect((await list("suiteId=local.test.evals.elsewhere")).baselines).toEqual([]);
    expect((await list("", "other")).baselines).toEqual([]);
    expect((await list("", "east")).baselines).toEqual([]);
    expectError(await get(url("one"), "other"), "not_found");
    expectError(await set("one", runId, "other"), "not_found");
    expectError(await set("one", runId, "east"), "not_found");
    expectError(await set("one", runId, "viewer"), "forbidden");
    expectError(await get(`${BASELINES}?cursor=zzz`), "validation_error");
  });
});
