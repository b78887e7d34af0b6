import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EvalReport } from "../../../src/protocol/evals/api.ts";
import type { AgentEvalSuite } from "../../../src/protocol/evals/eval-suite.ts";
import { EvalTaskBodies } from "../../../src/protocol/evals/eval-task-bodies.ts";
import { parse } from "../../../src/protocol/schema.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { AGENT_ID, agentOf, agentsOf, type Behaviour, goldenTask, suiteOf } from "../../../src/testing/eval-bench.ts";
import { type EvalServer, evalServer } from "../../../src/testing/eval-server.ts";
import { expectError, type Who } from "../../../src/testing/host.ts";

const EVALS = "/v1/host/assay/evals";
const THOUGHT = "The customer wants the money back.";
const SECRET = `AKIA${"ABCDEFGHIJKLMNOP"}`;

let careful = () => false;

/** Reasons, calls an allowed tool twice and one that is not allowed, and answers what it found. */
const clerk: Behaviour = async ({ tools, input, signal }, watch) => {
  watch.reasoning(THOUGHT);
  if (input === "long") watch.reasoning(` ${"long and winding ".repeat(3000)}`);
  const found = await tools.call("crm:find", { customer: input }, signal);
  await tools.call("crm:find", { customer: "nobody", key: SECRET }, signal);
  if (!careful()) await tools.call("shell:run", { command: "ls" }, signal);
  watch.reasoning("That is enough.");
  return { type: "completed", output: found.status === "ok" ? found.outcome : "?" };
};

const fixtures = {
  toolResponses: [
    { tool: "crm:find", response: "Ada" },
    { tool: "crm:find", response: { none: true } },
  ],
};
const taskOf = (taskId: string, input: unknown, value: unknown) => ({ ...goldenTask(taskId, input, value), fixtures });

describe.each(HTTP_STORES)("the bodies of a task on %s", (_, open) => {
  let host: EvalServer;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    const agents = agentsOf([agentOf({ toolAllowlist: ["crm:find"] })], clerk, { binding: { fingerprint: "f1" } });
    host = await evalServer(opened.store, { agents });
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const suite = (name: string, changes: Partial<AgentEvalSuite> = {}) =>
    suiteOf([taskOf("a", "asked in confidence", "Ada"), taskOf("b", "b", "expected in confidence")], {
      suiteId: `local.test.evals.${name}`,
      ...changes,
    });
  const get = (url: string, as: Who = "owner") => host.ask("GET", url, { as });
  const bodiesOf = async (runId: string, taskId = "a") =>
    parse(EvalTaskBodies, (await get(`${EVALS}/${runId}/tasks/${taskId}`)).json(), "bodies");

  test("are found by the link in the report: input, expected, output, reasoning and each tool call in order", async () => {
    const runId = await host.evaluate(suite("linked"));
    const report = parse(EvalReport, (await get(`${EVALS}/${runId}/report`)).json(), "report");
    const [link] = report.tasks.map(({ bodies }) => bodies);
    const task = parse(EvalTaskBodies, (await get(String(link))).json(), "bodies");
    expect(task).toMatchObject({
      runId,
      taskId: "a",
      agentId: AGENT_ID,
      input: "asked in confidence",
      expected: { kind: "golden", match: { value: "Ada" } },
      fixtures,
      passed: false,
      score: 1,
      trials: [
        {
          trial: 1,
          passed: true,
          findings: [{ severity: "high" }],
          output: "Ada",
          reasoning: `${THOUGHT}\n\nThat is enough.`,
        },
      ],
    });
    expect(task.trials[0]?.toolCalls).toEqual([
      { tool: "crm:find", arguments: { customer: "asked in confidence" }, result: "Ada" },
      {
        tool: "crm:find",
        arguments: { customer: "nobody", key: expect.not.stringContaining(SECRET) },
        result: { none: true },
      },
      {
        tool: "shell:run",
        arguments: { command: "ls" },
        error: { code: "tool_not_allowed", message: "The agent may not call shell:run." },
      },
    ]);
    const failed = await bodiesOf(runId, "b");
    expect(failed.trials[0]).toMatchObject({ passed: false, output: "Ada", difference: { kind: "words" } });
  });

  test("are one for each trial", async () => {
    const runId = await host.evaluate(suite("trials"), { trials: 3 });
    const { trials } = await bodiesOf(runId);
    expect(trials.map(({ trial, toolCalls }) => [trial, toolCalls.length])).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
  });

  test("say the mode of each trial, and a finding belongs to the trial of its own mode", async () => {
    let asked = 0;
    careful = () => ++asked === 1;
    const runId = await host.evaluate(suite("modes", { modes: ["golden", "adversarial"] }), { concurrency: 1 });
    careful = () => false;
    const { trials } = await bodiesOf(runId);
    expect(trials.map(({ trial, mode, findings }) => [trial, mode, findings.length])).toEqual([
      [1, "golden", 0],
      [1, "adversarial", 1],
    ]);
  });

  test("take a scope of their own, also in a report with content", async () => {
    const runId = await host.evaluate(suite("scoped"));
    for (const url of [`${EVALS}/${runId}/tasks/a`, `${EVALS}/${runId}/report?content=true`]) {
      for (const as of ["viewer", "narrow"] as const) {
        expect(expectError(await get(url, as), "forbidden")).toMatchObject({ scopeRequired: "artifacts:read" });
      }
      expectError(await get(url, "other"), "not_found");
      expect((await get(url)).statusCode).toBe(200);
    }
    expect((await get(`${EVALS}/${runId}/report`, "viewer")).statusCode).toBe(200);
  });

  test("are nowhere else: not in events, summary, report or run", async () => {
    const runId = await host.evaluate(suite("quiet"));
    const log = host.ask("GET", `/v1/runs/${runId}/events?streamMode=debug`, {
      headers: { accept: "application/json" },
    });
    const summary = get(`/v1/runs/${runId}/eval-summary`);
    const answers = [log, summary, get(`${EVALS}/${runId}/report`), get(EVALS), get(`/v1/runs/${runId}`)];
    for (const { statusCode, body } of await Promise.all(answers)) {
      expect(statusCode).toBe(200);
      for (const text of [THOUGHT, "enough", "nobody", "in confidence", "Ada"]) expect(body).not.toContain(text);
    }
    const { events } = (await log).json() as { events: { type: string; payload: object }[] };
    const allowed = ["taskId", "score", "passed", "costUsd", "latencyMs", "schemaValid", "safetyFindingCount"];
    const scored = events.filter(({ type }) => type === "eval.scored");
    expect(scored).toHaveLength(2);
    for (const { payload } of scored) expect(allowed).toEqual(expect.arrayContaining(Object.keys(payload)));
  });

  test("have as much reasoning as reasoningVerbosity says, and an unknown level is refused", async () => {
    const long = suite("verbosity", { tasks: [taskOf("a", "long", "Ada")] });
    const reasoningAt = async (configurable: object) =>
      (await bodiesOf(await host.evaluate(long, configurable))).trials[0]?.reasoning;
    expect((await reasoningAt({}))?.length).toBe(20_000);
    expect((await reasoningAt({ reasoningVerbosity: "full" }))?.length).toBe(20_000);
    const summary = await reasoningAt({ reasoningVerbosity: "summary" });
    expect(summary?.length).toBeLessThan(2200);
    expect(summary).toContain(THOUGHT);
    expect(await reasoningAt({ reasoningVerbosity: "off" })).toBeUndefined();
    const evalSuiteRef = `${long.suiteId}@${long.version}`;
    expectError(await host.start({ evalSuiteRef, configurable: { reasoningVerbosity: "loud" } }), "validation_error");
  });

  test("of a trial from the cache are those of the trial it stands for, and never more than was asked for", async () => {
    const cached = suite("cached");
    const first = await bodiesOf(await host.evaluate(cached, { cache: true }));
    const again = await bodiesOf(await host.evaluate(cached, { cache: true }));
    expect(again.trials[0]).toMatchObject({ cached: true, toolCalls: first.trials[0]?.toolCalls });
    const quiet = await bodiesOf(await host.evaluate(cached, { cache: true, reasoningVerbosity: "off" }));
    expect(quiet.trials[0]).toMatchObject({ cached: false });
    expect(quiet.trials[0]).not.toHaveProperty("reasoning");
  });

  test("are not there for a task that the evaluation does not have, nor for another kind of run", async () => {
    const runId = await host.evaluate(suite("absent"), { taskIds: ["a"] });
    expectError(await get(`${EVALS}/${runId}/tasks/b`), "not_found");
    expectError(await get(`${EVALS}/${runId}/tasks/z`), "not_found");
    expectError(await get(`${EVALS}/${await host.newRun()}/tasks/a`), "not_found");
  });

  test("go with their run", async () => {
    const runId = await host.evaluate(suite("deleted"));
    const kept = () => host.store.listDocuments("t1", "eval-body", { limit: 10, prefix: `${runId}/` });
    expect(await kept()).toHaveLength(2);
    expect((await host.ask("DELETE", `/v1/host/assay/runs/${runId}`)).statusCode).toBeLessThan(300);
    expect(await kept()).toEqual([]);
  });
});
