import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { overriddenSummary } from "../../../src/evals/override/overridden.ts";
import { scoredEvents } from "../../../src/evals/override/score-judgments.ts";
import { EvalReport } from "../../../src/protocol/evals/api.ts";
import { AnnotationView } from "../../../src/protocol/judgments/annotation-api.ts";
import { AddItemsResponse } from "../../../src/protocol/queues/api.ts";
import { parse } from "../../../src/protocol/schema.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { echo, goldenTask, suiteOf } from "../../../src/testing/eval-bench.ts";
import { type EvalServer, evalServer } from "../../../src/testing/eval-server.ts";
import { expectError, type Who } from "../../../src/testing/host.ts";
import { Member } from "../../../src/testing/inbox-client.ts";
import { doneInOneUnit } from "../../../src/testing/one-unit.ts";
import { Reviewer } from "../../../src/testing/review-queue.ts";

const TASKS = ["right", "wrong-a", "wrong-b", "leaky"];
const SUITE = suiteOf(
  TASKS.map((one) => goldenTask(one, one)),
  { thresholds: { passScore: 0.75 } },
);

describe.each(HTTP_STORES)("what people say about the scores of an evaluation on %s", (_, open) => {
  let host: EvalServer;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    host = await evalServer(opened.store, {
      behave: (task, watch) => {
        if (task.taskId?.startsWith("wrong")) return { type: "completed", output: "something else" };
        // Looks like a key of a provider: found, and critical, whatever the score is.
        if (task.taskId === "leaky") return { type: "completed", output: `AKIA${"ABCDEFGHIJKLMNOP"}` };
        return echo(task, watch);
      },
    });
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const eventOf = async (runId: string, taskId: string) => {
    const found = (await scoredEvents(host.store, runId)).find((one) => one.taskId === taskId);
    if (found === undefined) throw new Error(`no score of ${taskId}`);
    return found.eventId;
  };
  const reportOf = async (runId: string, reader?: Member): Promise<EvalReport> => {
    const url = `/v1/host/assay/evals/${runId}/report`;
    const answer = reader === undefined ? await host.ask("GET", url) : await reader.ask("GET", url);
    expect(answer.statusCode, answer.payload).toBe(200);
    return parse(EvalReport, answer.json(), "report");
  };
  const annotate = async (runId: string, taskId: string, signal: object, more: object = {}, as: Who = "owner") => {
    const json = { target: { eventId: await eventOf(runId, taskId) }, signal, ...more };
    const answer = await host.ask("POST", `/v1/host/assay/runs/${runId}/annotations`, { json, as });
    expect(answer.statusCode, answer.payload).toBe(201);
    return parse(AnnotationView, answer.json(), "annotation");
  };
  const judge = (runId: string, taskId: string, json: object, as: Who = "owner") =>
    host.ask("POST", `/v1/host/assay/evals/${runId}/tasks/${taskId}:judge`, { json, as });
  const retract = (annotationId: string) =>
    host.ask("POST", `/v1/host/assay/annotations/${annotationId}:retract`, { json: { reason: "mistaken" } });

  test("are said once, however often the same request comes", async () => {
    const runId = await host.evaluate(SUITE);
    const url = `/v1/host/assay/evals/${runId}/tasks/right:judge`;
    const { annotationId } = await doneInOneUnit(host, url, { json: { label: "fail" } });
    const said = (await host.ask("GET", `/v1/runs/${runId}/annotations`)).json();
    expect(said.annotations.map((one: AnnotationView) => one.annotationId)).toEqual([annotationId]);
  });

  test("are beside the original, which stays as it is to the last byte", async () => {
    const runId = await host.evaluate(SUITE);
    const logOf = async () => (await host.store.readEvents(runId, 0, 1000)).map(({ body }) => body).join("\n");
    const summary = async () => (await host.ask("GET", `/v1/runs/${runId}/eval-summary`)).body;
    const before = { log: await logOf(), summary: await summary(), report: await reportOf(runId) };
    expect(before.report.override).toMatchObject({ tasks: [], disputed: [], aggregateScore: 0.25, passed: false });

    await annotate(runId, "wrong-a", { kind: "label", label: "pass" });
    await annotate(runId, "wrong-b", { kind: "rating", rating: 4 }, { note: "nearly" });
    await annotate(runId, "right", { kind: "correction", correction: "better words" });
    const { override, ...rest } = await reportOf(runId);
    const { override: __, ...restBefore } = before.report;
    expect(rest).toEqual(restBefore);
    expect({ log: await logOf(), summary: await summary() }).toEqual({ log: before.log, summary: before.summary });

    expect(override.tasks.map(({ taskId, original, overridden, by }) => [taskId, original, overridden, by])).toEqual([
      ["wrong-a", { score: 0, passed: false }, { score: 1, passed: true }, "ada"],
      ["wrong-b", { score: 0, passed: false }, { score: 0.75, passed: false }, "ada"],
    ]);
    expect(override.disputed.map(({ taskId, said }) => [taskId, said.map(({ kind }) => kind)])).toEqual([
      ["right", ["correction"]],
    ]);
    expect(override).toMatchObject({ aggregateScore: 0.6875, passed: false, unmet: ["score"], passedCount: 2 });
    expect(override.score).toMatchObject({ value: 0.6875, count: 4 });
    expect(JSON.stringify(override)).not.toMatch(/nearly|better words/);

    await annotate(runId, "wrong-b", { kind: "label", label: "pass" });
    expect((await reportOf(runId)).override).toMatchObject({ aggregateScore: 0.75, passed: true, unmet: [] });
  });

  test("cannot let a task pass in which something was found", async () => {
    const runId = await host.evaluate(SUITE);
    await annotate(runId, "leaky", { kind: "label", label: "pass" });
    const [leaky] = (await reportOf(runId)).override.tasks;
    expect(leaky).toMatchObject({ taskId: "leaky", overridden: { score: 1, passed: false } });
  });

  test("count no more once they are withdrawn or replaced, and stay in the history", async () => {
    const runId = await host.evaluate(SUITE);
    const first = await annotate(runId, "wrong-a", { kind: "label", label: "pass" });
    const second = await annotate(runId, "wrong-a", { kind: "rating", rating: 3 }, { supersedes: first.annotationId });
    const third = await annotate(runId, "wrong-a", { kind: "label", label: "pass" });
    expect((await retract(third.annotationId)).statusCode).toBe(200);
    const [task] = (await reportOf(runId)).override.tasks;
    expect(task).toMatchObject({ annotationId: second.annotationId, overridden: { score: 0.5 } });
    expect(task?.history.map(({ state, score, counts }) => [state, score, counts])).toEqual([
      ["retracted", 1, false],
      ["live", 0.5, true],
      ["superseded", 1, false],
    ]);
    await retract(second.annotationId);
    expect((await reportOf(runId)).override.tasks).toEqual([]);
  });

  test("are said by people: what an agent finds changes nothing", async () => {
    const runId = await host.evaluate(SUITE);
    const bot = await Member.join(host, "bot", { kind: "agent" });
    const target = { eventId: await eventOf(runId, "wrong-a") };
    const answer = await bot.ask("POST", `/v1/runs/${runId}/annotations`, {
      target,
      signal: { kind: "label", label: "pass" },
    });
    expect(answer.statusCode, answer.payload).toBe(201);
    expect((await reportOf(runId)).override).toMatchObject({ tasks: [], aggregateScore: 0.25 });
  });

  test("are said about events of scores, and not about the run or another event", async () => {
    const runId = await host.evaluate(SUITE);
    await host.ask("POST", `/v1/runs/${runId}/annotations`, { json: { signal: { kind: "label", label: "pass" } } });
    const [first] = await host.store.readEvents(runId, 0, 1);
    const { eventId } = JSON.parse(first?.body ?? "{}");
    const json = { target: { eventId }, signal: { kind: "label", label: "pass" } };
    expect((await host.ask("POST", `/v1/runs/${runId}/annotations`, { json })).statusCode).toBe(201);
    expect((await reportOf(runId)).override.tasks).toEqual([]);
  });

  describe("and reviewers of a queue disagree on", () => {
    const disputed = async (rules: object) => {
      const runId = await host.evaluate(SUITE);
      const name = `q ${runId}`;
      const [boss, ana, ben] = await Promise.all([
        Reviewer.manager(host, `boss-${runId}`),
        Reviewer.join(host, `ana-${runId}`),
        Reviewer.join(host, `ben-${runId}`),
      ]);
      const labels = { kind: "label" as const, labels: ["pass", "fail"] };
      const { queueId } = await boss.create({ name, judgment: labels, reviewersRequired: 2, ...rules });
      const items = [{ runId, eventId: await eventOf(runId, "wrong-a") }];
      const answer = await boss.member.ask("POST", `/v1/host/assay/queues/${queueId}/items`, { items });
      const item = parse(AddItemsResponse, answer.json(), "answer").added[0];
      if (item === undefined) throw new Error(answer.payload);
      expect(item.eventId).toBe(items[0]?.eventId);
      return { runId, boss, ana, ben, item };
    };

    test("is settled by what was adjudicated, also against what somebody says later", async () => {
      const { runId, boss, ana, ben, item } = await disputed({ blind: false });
      await ana.does("judge", item, { value: "pass" });
      await ben.does("judge", item, { value: "fail" });
      expect((await reportOf(runId)).override.tasks[0]).toMatchObject({ adjudicated: false, overridden: { score: 0 } });
      await boss.does("adjudicate", item, { value: "pass" });
      await annotate(runId, "wrong-a", { kind: "label", label: "fail" });
      const [task] = (await reportOf(runId)).override.tasks;
      expect(task).toMatchObject({
        adjudicated: true,
        by: boss.member.principal,
        overridden: { score: 1, passed: true },
      });
      expect(task?.history.map(({ score }) => score)).toEqual([0, 1, 0, 1]);
    });

    test("is kept from those who have yet to judge blindly", async () => {
      const { runId, ana, ben, item } = await disputed({ blind: true });
      await ana.does("judge", item, { value: "pass" });
      expect((await reportOf(runId, ben.member)).override.tasks).toEqual([]);
      expect((await reportOf(runId, ana.member)).override.tasks).toHaveLength(1);
      await ben.does("judge", item, { value: "fail" });
      expect((await reportOf(runId, ben.member)).override.tasks).toHaveLength(1);
    });

    test("has to be an event of the run", async () => {
      const { runId, boss, item } = await disputed({});
      const other = await eventOf(await host.evaluate(SUITE), "right");
      const add = (more: object) =>
        boss.member.ask("POST", `/v1/host/assay/queues/${item.queueId}/items`, { items: [{ runId, ...more }] });
      expectError(await add({ eventId: other }), "validation_error");
      expectError(await add({ eventId: await eventOf(runId, "right"), nodeId: "eval" }), "validation_error");
      expect((await add({ eventId: item.eventId })).json()).toMatchObject({ added: [], known: 1 });
    });
  });

  describe("by the name of the task", () => {
    test("are the same as annotations on the event", async () => {
      const runId = await host.evaluate(SUITE);
      const answer = await judge(runId, "wrong-a", { label: "pass", note: "as good" });
      expect(answer.statusCode, answer.payload).toBe(201);
      const view = parse(AnnotationView, answer.json(), "annotation");
      expect(view).toMatchObject({ target: { runId, eventId: await eventOf(runId, "wrong-a") }, note: "as good" });
      expect((await judge(runId, "right", { correction: "righter" })).statusCode).toBe(201);
      expect((await judge(runId, "wrong-b", { flag: true })).statusCode).toBe(201);
      expect((await judge(runId, "leaky", { rating: 1 })).statusCode).toBe(201);
      const { override } = await reportOf(runId);
      expect(override.tasks.map(({ taskId }) => taskId)).toEqual(["wrong-a", "leaky"]);
      expect(override.disputed.map(({ taskId }) => taskId)).toEqual(["right", "wrong-b"]);
    });

    test("are refused without one thing to say, for tasks and runs that are not there, and for those who may not", async () => {
      const runId = await host.evaluate(SUITE);
      expectError(await judge(runId, "right", {}), "validation_error");
      expectError(await judge(runId, "right", { label: "pass", rating: 5 }), "validation_error");
      expectError(await judge(runId, "right", { label: "good" }), "validation_error");
      expectError(await judge(runId, "nothing", { label: "pass" }), "not_found");
      expectError(await judge(await host.newRun(), "right", { label: "pass" }), "not_found");
      expectError(await judge(runId, "right", { label: "pass" }, "other"), "not_found");
      expectError(await judge(runId, "right", { label: "pass" }, "narrow"), "forbidden");
      expect((await reportOf(runId)).override.tasks).toEqual([]);
    });
  });

  test("make a summary of their own for those who decide by it", async () => {
    const runId = await host.evaluate(SUITE);
    for (const taskId of ["wrong-a", "wrong-b"]) await judge(runId, taskId, { label: "pass" });
    await judge(runId, "right", { flag: true });
    const found = await overriddenSummary(host.host, { tenant: "t1" }, runId);
    expect(found.original).toMatchObject({ aggregateScore: 0.25, passed: false, passedCount: 1 });
    expect(found.overridden).toMatchObject({ aggregateScore: 0.75, passed: true, passedCount: 3, taskCount: 4 });
    expect(found).toMatchObject({ unmet: [], overriddenTasks: ["wrong-a", "wrong-b"], disputedTasks: ["right"] });
    await expect(overriddenSummary(host.host, { tenant: "t2" }, runId)).rejects.toThrow(/no run/i);
  });
});
