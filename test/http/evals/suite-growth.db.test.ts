import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AddedTask } from "../../../src/protocol/evals/suite-api.ts";
import { MASK } from "../../../src/protocol/events.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { KNOWN_SECRET } from "../../../src/testing/engine.ts";
import { AGENT_ID, goldenTask } from "../../../src/testing/eval-bench.ts";
import { expectError } from "../../../src/testing/host.ts";
import { doneInOneUnit } from "../../../src/testing/one-unit.ts";
import { ADD, SUITE, SuiteGrowthBench } from "../../../src/testing/suite-growth-bench.ts";
import { tapeText } from "../../../src/testing/tape-texts.ts";

describe.each(HTTP_STORES)("a task that is made of a corrected run on %s", (_, open) => {
  let bench: SuiteGrowthBench;
  beforeAll(async () => {
    bench = await SuiteGrowthBench.open(open);
  });
  afterAll(() => bench.close());

  test("asks what was asked, with the tools and the memory of then, and expects the correction", async () => {
    const suite = await bench.suite();
    const runId = await bench.ask({ order: 7, says: { city: "Vienna" } });
    const annotationId = await bench.correct(runId, '{ "city": "Wien" }');
    const before = await bench.suiteText(`${suite}@1.0.0`);
    const added: AddedTask = await doneInOneUnit(bench.host, ADD, { json: { runId, suite } });
    expect(added.task).toEqual({
      taskId: runId,
      input: { order: 7, says: { city: "Vienna" } },
      expected: { kind: "golden", match: { strategy: "json-match", value: { city: "Wien" } } },
      fixtures: {
        toolResponses: [
          { tool: "crm:find-order", response: { found: { order: 7 }, token: "[REDACTED]" } },
          { tool: "crm:find-order", response: { found: { order: 8 }, token: "[REDACTED]" } },
        ],
        memorySeed: [{ id: "where", content: "The customer writes from Austria.", tags: ["place"] }],
      },
    });
    expect(added.proof.recorded).toMatchObject({ score: 0, passed: false });
    expect(added.proof.recorded.difference?.join("\n")).toMatch(/Wien.*Vienna/);
    expect(added.proof.correction).toMatchObject({ score: 1, passed: true });
    expect(added.notes).toEqual([expect.stringContaining("crm:weather failed")]);

    expect(added).toMatchObject({ suiteId: suite, version: "1.1.0", taskCount: 2, kept: true });
    expect(JSON.parse(await bench.suiteText(suite))).toEqual(JSON.parse(added.text));
    expect(await bench.suiteText(`${suite}@1.0.0`)).toBe(before);

    const link = { suiteId: suite, version: "1.1.0", taskId: runId, runId, annotationId, nodeId: "ask", by: "ada" };
    expect((await bench.links(`runId=${runId}`)).links).toEqual([expect.objectContaining(link)]);
    expect((await bench.links(`suiteId=${suite}`)).links).toEqual([expect.objectContaining(link)]);
    expect((await bench.links(`suiteId=${suite}&runId=run-00000000000000000000000000`)).links).toEqual([]);

    // And it is a task like any other: what answered as it did then fails it.
    const again = await bench.evaluate(suite);
    const summary = (await bench.host.ask("GET", `/v1/runs/${again}/eval-summary`)).json();
    expect(summary.tasks).toContainEqual(expect.objectContaining({ taskId: runId, passed: false }));
  });

  test("asks what was asked then, without what the workflow or anybody keeps secret", async () => {
    const inputs = { question: { city: "?", key: KNOWN_SECRET }, pin: "open-sesame-4711" };
    const runId = await bench.run({ workflowId: "changed", inputs });
    await bench.correct(runId, "Wien");
    const { task } = await bench.add({ runId, suite: await bench.suite() });
    expect(task.input).toEqual({ task: { city: "?", key: "[REDACTED]" }, pin: MASK });
  });

  test("goes to the suite that is for the agent, or the evaluation was made with, where none is named", async () => {
    await bench.refused({ runId: await bench.corrected("x1") }, /are all written for local.test.echo/);
    const suite = await bench.suite([goldenTask("capital", { says: "Vienna" }, "Vienna")]);
    const runId = await bench.evaluate(suite);
    await bench.correct(runId, "Wien", { eventId: await bench.eventOf(runId, "eval.scored") });
    expect(await bench.add({ runId })).toMatchObject({ suiteId: suite, version: "1.1.0" });
  });

  describe("of an evaluation", () => {
    test("is the task that was corrected, by its score or by anything that happened in it", async () => {
      const tasks = ["a", "b", "c"].map((one) => ({
        ...goldenTask(one, { says: one }, one),
        fixtures: { memorySeed: [{ content: `seed of ${one}` }] },
      }));
      const suite = await bench.suite(tasks);
      const runId = await bench.evaluate(suite);
      await bench.refused({ runId }, /has no correction/);
      await bench.correct(runId, "whole");
      await bench.refused({ runId }, /several tasks/);
      await bench.correct(runId, "nothing", { eventId: await bench.eventOf(runId, "eval.started") });
      await bench.refused({ runId }, /belongs to no task/);
      const scored = (await bench.host.store.readEvents(runId, 0, 1000)).filter(({ type }) => type === "eval.scored");
      const [first, second] = scored.map(({ body }) => JSON.parse(body).payload.taskId as string);
      await bench.correct(runId, "one", { eventId: await bench.eventOf(runId, "eval.scored") });
      const one = await bench.add({ runId });
      expect(one.task).toMatchObject({
        taskId: `${first}-corrected`,
        input: { says: first },
        expected: { match: { strategy: "exact", value: "one" } },
        fixtures: { memorySeed: [{ content: `seed of ${first}` }] },
      });
      expect(one.notes).toEqual([expect.stringContaining(`Task ${first} asks the same`)]);
      await bench.correct(runId, "two", { eventId: await bench.eventOf(runId, "agent.decided", 1) });
      expect((await bench.add({ runId })).task.taskId).toBe(`${second}-corrected`);
      expect((await bench.links(`runId=${runId}`)).links.map(({ version }) => version).sort()).toEqual([
        "1.1.0",
        "1.2.0",
      ]);
    });
  });

  describe("of a run with several agents", () => {
    test("needs a correction of one node, or of what happened there", async () => {
      const suite = await bench.suite();
      const runId = await bench.ask({ says: "both" }, "two");
      await bench.correct(runId, "neither");
      await bench.refused({ runId, suite }, /asked at ask, again/);
      await bench.correct(runId, "better", { nodeId: "again" });
      expect(await bench.add({ runId, suite, taskId: "by-node" })).toMatchObject({ link: { nodeId: "again" } });
      await bench.correct(runId, "best", { eventId: await bench.eventOf(runId, "agent.decided") });
      const byEvent = await bench.add({ runId, suite, taskId: "by-event" });
      expect(byEvent).toMatchObject({ link: { nodeId: "ask" }, task: { expected: { match: { value: "best" } } } });
    });
  });

  test("is a step of a tape that was brought here, where that was corrected", async () => {
    const suite = await bench.suite();
    const tape = tapeText({ greeting: `hello ${suite}` });
    const { runId } = (await bench.host.ask("POST", "/v1/host/assay/tapes", { json: { tape } })).json();
    await bench.correct(runId, "the whole of it");
    await bench.refused({ runId, suite }, /no step of the tape that gave an answer/);
    const events = (await bench.host.store.readEvents(runId, 0, 100)).map(({ body }) => JSON.parse(body));
    const step = events.find(({ payload }) => payload.kind?.kind === "llm_call");
    await bench.correct(runId, "good day", { eventId: step.eventId });
    const { task, notes } = await bench.add({ runId, suite });
    expect(task).toMatchObject({
      input: { request_digest: expect.any(String) },
      expected: { match: { value: "good day" } },
    });
    expect(notes).toEqual([expect.stringContaining("only the digest")]);
  });

  test("is only told of when it is checked", async () => {
    const suite = await bench.suite();
    const runId = await bench.corrected("checked");
    const answer = await bench.tryAdd({ runId, suite, check: true });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ kept: false, link: null, version: "1.1.0" });
    expectError(await bench.host.ask("GET", `/v1/host/assay/suites/${suite}@1.1.0`), "not_found");
    expect((await bench.links(`runId=${runId}`)).links).toEqual([]);
  });

  test("goes into a suite that is kept elsewhere, or begins one, and the link stays here", async () => {
    const runId = await bench.corrected("elsewhere");
    const text = JSON.stringify({ ...SUITE, suiteId: "local.test.evals.file" }, null, 2);
    const added = await bench.add({ runId, suiteText: text });
    expect(added).toMatchObject({ kept: false, version: "1.1.0", link: { suiteId: "local.test.evals.file" } });
    expectError(await bench.host.ask("GET", "/v1/host/assay/suites/local.test.evals.file"), "not_found");
    const begun = await bench.add({ runId, newSuiteId: "local.test.evals.begun" });
    expect(JSON.parse(begun.text)).toMatchObject({ version: "0.1.0", targetAgentId: AGENT_ID, modes: ["golden"] });
    expect((await bench.links(`runId=${runId}`)).links).toHaveLength(2);
    await bench.refused({ runId, newSuiteId: SUITE.suiteId }, /already/);
    await bench.refused({ runId, suiteText: "{" }, /suite/);
    await bench.refused({ runId, suiteText: text, suite: `${SUITE.suiteId}@${SUITE.version}` }, /name one of/);
  });

  test("is in one version with a task that was added between reading the suite and its highest version", async () => {
    const suite = await bench.suite();
    const [first = "", second = ""] = await Promise.all(["s", "t"].map((says) => bench.corrected(says)));
    const store = bench.host.store as { readDocument: Store["readDocument"] };
    const { readDocument } = store;
    store.readDocument = async (id) => {
      const found = await readDocument.call(store, id);
      if (id.kind !== "suite") return found;
      store.readDocument = readDocument;
      await bench.add({ runId: first, suite });
      return found;
    };
    expect(await bench.add({ runId: second, suite })).toMatchObject({ version: "1.2.0", taskCount: 3 });
  });

  test("is in a version of its own when several are added at once", async () => {
    const suite = await bench.suite();
    const runIds = await Promise.all(["p", "q", "r"].map((says) => bench.corrected(says)));
    const added = await Promise.all(runIds.map((runId) => bench.add({ runId, suite })));
    expect(added.map(({ version }) => version).sort()).toEqual(["1.1.0", "1.2.0", "1.3.0"]);
    expect(JSON.parse(await bench.suiteText(suite)).tasks).toHaveLength(4);
  });
});
