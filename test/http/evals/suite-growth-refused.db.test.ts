import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isTerminal } from "../../../src/protocol/runs/run-status.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { until } from "../../../src/testing/engine.ts";
import { expectError } from "../../../src/testing/host.ts";
import { Member } from "../../../src/testing/inbox-client.ts";
import { ADD, LINKS, SuiteGrowthBench } from "../../../src/testing/suite-growth-bench.ts";

describe.each(HTTP_STORES)("no task is made of a run on %s", (_, open) => {
  let bench: SuiteGrowthBench;
  beforeAll(async () => {
    bench = await SuiteGrowthBench.open(open);
  });
  afterAll(() => bench.close());

  test("where it would pass on what was answered, with the difference there is not", async () => {
    const runId = await bench.ask({ says: "right" });
    await bench.correct(runId, "right");
    const details = await bench.refused({ runId, suite: await bench.suite() }, /the recorded answer passes it/);
    expect(details).toMatchObject({ proof: { recorded: { score: 1 }, correction: { passed: true } } });
  });

  test("of an evaluation for a key that may not read what was said in it", async () => {
    const suite = await bench.suite();
    const runId = await bench.evaluate(suite);
    await bench.correct(runId, "Wien", { eventId: await bench.eventOf(runId, "eval.scored") });
    const scopes = ["suites:write", "runs:read"];
    const narrow = await Member.join(bench.host, `narrow-${runId}`, { roles: ["admin"], scopes });
    const refused = expectError(await narrow.ask("POST", ADD, { runId, suite, check: true }), "forbidden");
    expect(refused).toMatchObject({ scopeRequired: "artifacts:read" });
    const wide = await Member.join(bench.host, `wide-${runId}`, {
      roles: ["admin"],
      scopes: [...scopes, "artifacts:read"],
    });
    expect((await wide.ask("POST", ADD, { runId, suite, check: true })).statusCode).toBe(200);
  });

  test("where the agent answers JSON and the correction is none", async () => {
    const runId = await bench.ask({ says: { a: 1 } });
    await bench.correct(runId, "just a text");
    await bench.refused({ runId, suite: await bench.suite() }, /the agent answered JSON/);
  });

  test("where the agent takes no such task, or could never answer as the correction says", async () => {
    const suite = await bench.suite();
    const strict = await bench.run({ workflowId: "strict", inputs: { question: { n: 1 } } });
    await bench.correct(strict, '{ "city": "Wien" }');
    await bench.refused({ runId: strict, suite }, /takes no such task: it must have required property 'city'/);
    const asking = await bench.run({ workflowId: "strict", inputs: { question: { city: "Vienna" } } });
    await bench.correct(asking, '{ "town": "Wien" }');
    await bench.refused(
      { runId: asking, suite },
      /no answer that local.test.strict can give.*required property 'city'/,
    );
    await bench.correct(asking, '{ "city": "Wien" }');
    await bench.add({ runId: asking, suite });
  });

  test("where the suite has it already, and where its name is taken", async () => {
    const suite = await bench.suite();
    const runId = await bench.ask({ says: "twice" });
    await bench.correct(runId, "twice, better");
    await bench.add({ runId, suite });
    await bench.refused({ runId, suite }, /asks and expects the same/);
    await bench.correct(runId, "twice, best");
    await bench.refused({ runId, suite, taskId: "known" }, /has a task known/);
    expect(await bench.add({ runId, suite })).toMatchObject({ version: "1.2.0", task: { taskId: `${runId}-2` } });
  });

  test("where only an agent corrected, where the correction was withdrawn, and where no agent was asked", async () => {
    const suite = await bench.suite();
    const runId = await bench.ask({ says: "hm" });
    const bot = await Member.join(bench.host, `bot-${runId}`, { kind: "agent" });
    const signal = { kind: "correction", correction: "by a bot" };
    expect((await bot.ask("POST", `/v1/runs/${runId}/annotations`, { signal })).statusCode).toBe(201);
    await bench.refused({ runId, suite }, /only agents have corrected/);
    const annotationId = await bench.correct(runId, "by a person");
    expect((await bench.tryAdd({ runId, suite, check: true })).statusCode).toBe(200);
    await bench.host.ask("POST", `/v1/host/assay/annotations/${annotationId}:retract`, { json: { reason: "no" } });
    await bench.refused({ runId, suite }, /only agents have corrected/);
    await bench.refused({ runId, suite, annotationId }, /is no correction of this run/);
    const plain = await bench.host.newRun();
    await until(bench.host.store, plain, ({ status }) => isTerminal(status));
    await bench.correct(plain, "something");
    await bench.refused({ runId: plain, suite }, /no agent was asked/);
  });

  test("for those who cannot see the run, or may not write suites or read runs", async () => {
    const suite = await bench.suite();
    const runId = await bench.corrected("mine");
    expectError(await bench.tryAdd({ runId, suite }, "other"), "not_found");
    expectError(await bench.tryAdd({ runId, suite }, "viewer"), "forbidden");
    const writer = await Member.join(bench.host, `writer-${runId}`, { roles: ["owner"], scopes: ["suites:write"] });
    expectError(await writer.ask("POST", ADD, { runId, suite }), "forbidden");
    expect((await bench.links(`runId=${runId}`)).links).toEqual([]);
    expect((await bench.host.ask("GET", `${LINKS}?runId=${runId}`, { as: "other" })).json()).toEqual({ links: [] });
  });
});
