import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AgentTask } from "../agents/binding.ts";
import { scopeFor } from "../agents/memory/agent-memory.ts";
import { evalNode } from "../evals/run/eval-node.ts";
import type { EvalServices } from "../evals/run/eval-run.ts";
import type { AgentEvalSuite } from "../protocol/eval-suite.ts";
import { MASK } from "../protocol/events.ts";
import { isTerminal } from "../protocol/run-status.ts";
import { parse } from "../protocol/schema.ts";
import { AddedTask, TaskLinkPage } from "../protocol/suite-growth.ts";
import { agentHost } from "../testing/agent-nodes.ts";
import { BOTH_STORES } from "../testing/both-stores.ts";
import { KNOWN_SECRET, until } from "../testing/engine.ts";
import { AGENT_ID, agentOf, agentsOf, EVAL_SETTINGS, goldenTask, suiteOf } from "../testing/eval-bench.ts";
import { expectError, type TestHost, testHost, type Who } from "../testing/host.ts";
import { Member } from "../testing/inbox-client.ts";
import { tapeText } from "../testing/tape-texts.ts";
import { workflow } from "../testing/workflow.ts";

const OTHER = "local.test.other";
const STRICT = "local.test.strict";
const CITY = { type: "object", required: ["city"], properties: { city: { type: "string" } } } as const;
const ADD = "/v1/host/assay/suites:add-from";
const LINKS = "/v1/host/assay/suite-links";
const SUITE = suiteOf([goldenTask("known", "known")], { targetAgentId: AGENT_ID });
const REF = `${SUITE.suiteId}@${SUITE.version}`;

/** One agent at one node, asked what the run is given; or two of them. */
const ASK = {
  typeId: "assay.agent",
  agent: { agentId: AGENT_ID },
  inputs: { task: { type: "variable", variableName: "question" } },
} as const;
const ONE = workflow({ id: "one", nodes: { ask: ASK }, variables: [{ name: "question", type: "object" }] });
const TWO = workflow({
  id: "two",
  nodes: { ask: ASK, again: { ...ASK, agent: { agentId: OTHER } } },
  edges: ["ask>again"],
  variables: [{ name: "question", type: "object" }],
});

const STRICTLY = workflow({
  id: "strict",
  nodes: { ask: { ...ASK, agent: { agentId: STRICT } } },
  variables: [{ name: "question", type: "object" }],
});

/** What was asked is gone when the run ends, and part of it is nobody's business. */
const CHANGED = workflow({
  id: "changed",
  nodes: {
    ask: {
      ...ASK,
      config: { resultVariable: "question" },
      inputs: { ...ASK.inputs, pin: { type: "variable", variableName: "pin" } },
    },
  },
  variables: [
    { name: "question", type: "object" },
    { name: "pin", type: "string", sensitive: true },
  ],
});

/** Looks the order up, fails once to ask the weather, and answers what it is told to. */
async function behave({ input, tools, signal }: AgentTask) {
  const { order, says } = input as { order?: number; says?: unknown };
  if (order !== undefined) {
    await tools.call("crm:find-order", { order }, signal);
    await tools.call("crm:weather", {}, signal);
    await tools.call("crm:find-order", { order: order + 1 }, signal);
  }
  return { type: "completed" as const, output: says ?? "Vienna" };
}

describe.each(BOTH_STORES)("a task that is made of a corrected run on %s", (_, open) => {
  let host: TestHost;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    const { store } = opened;
    const listed = ["crm:find-order", "crm:weather"];
    const agent = agentOf({ toolAllowlist: listed, memoryShape: { longTerm: true } });
    const strict = agentOf({ agentId: STRICT, taskSchema: CITY, returnSchema: CITY });
    const agents = agentsOf([agent, agentOf({ agentId: OTHER }), strict], behave, {
      toolsFor: async ({ toolAllowlist }) => ({
        tools: toolAllowlist.map((name) => ({ name })),
        call: async (name, args) =>
          name === "crm:weather"
            ? { status: "error", error: "no signal" }
            : { status: "ok", outcome: { found: args, token: KNOWN_SECRET } },
      }),
    });
    const { host: asking, desk } = agentHost(store, agents);
    const services: EvalServices = { agents, settings: EVAL_SETTINGS, ...(desk.memory && { memory: desk.memory }) };
    const node = evalNode(asking, () => services);
    const nodeTypes = new Map([...asking.nodeTypes, [node.typeId, node]]);
    host = await testHost({ store, worker: true, host: { nodeTypes }, deps: { evals: services } });
    const remembered = await desk.memory?.put(scopeFor({ tenant: "t1" }, AGENT_ID), {
      id: "where",
      content: "The customer writes from Austria.",
      tags: ["place"],
    });
    if (remembered !== undefined) await store.commit({ tenant: "t1", documents: [remembered.write] });
    for (const definition of [ONE, TWO, CHANGED, STRICTLY])
      await host.ask("POST", "/v1/workflows", { json: definition });
    await keep(SUITE);
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const keep = async (suite: AgentEvalSuite) => {
    const url = `/v1/host/assay/suites/${suite.suiteId}@${suite.version}`;
    const answer = await host.ask("PUT", url, { json: suite });
    expect(answer.statusCode, answer.payload).toBeLessThan(300);
  };
  let suites = 0;
  const fresh = async (tasks = SUITE.tasks): Promise<string> => {
    suites += 1;
    const suiteId = `local.test.evals.s${suites}`;
    await keep({ ...SUITE, suiteId, tasks });
    return suiteId;
  };
  const started = async (json: object, as: Who = "owner"): Promise<string> => {
    const answer = await host.ask("POST", "/v1/runs", { json, as });
    expect(answer.statusCode, answer.payload).toBe(201);
    const { runId } = answer.json();
    await until(host.store, runId, ({ status }) => isTerminal(status));
    return runId;
  };
  const asked = (question: object, workflowId = "one") => started({ workflowId, inputs: { question } });
  const evaluated = (suiteId: string) => started({ mode: "eval", evalSuiteRef: suiteId, agentId: AGENT_ID });
  const correct = async (runId: string, correction: string, target: object = {}): Promise<string> => {
    const json = { target, signal: { kind: "correction", correction } };
    const answer = await host.ask("POST", `/v1/runs/${runId}/annotations`, { json });
    expect(answer.statusCode, answer.payload).toBe(201);
    return answer.json().annotationId;
  };
  const eventOf = async (runId: string, type: string, nth = 0): Promise<string> => {
    const events = (await host.store.readEvents(runId, 0, 1000)).filter((one) => one.type === type);
    return JSON.parse(events[nth]?.body ?? "{}").eventId;
  };
  const tryAdd = (json: object, as: Who = "owner") => host.ask("POST", ADD, { json, as });
  const add = async (json: object): Promise<AddedTask> => {
    const answer = await tryAdd(json);
    expect(answer.statusCode, answer.payload).toBe(201);
    return parse(AddedTask, answer.json(), "answer");
  };
  const refused = async (json: object, says: RegExp) => {
    const answer = await tryAdd(json);
    const details = expectError(answer, "validation_error");
    expect(answer.json().message).toMatch(says);
    return details;
  };
  const suiteText = async (ref: string) => (await host.ask("GET", `/v1/host/assay/suites/${ref}`)).body;
  const links = async (query: string): Promise<TaskLinkPage> =>
    parse(TaskLinkPage, (await host.ask("GET", `${LINKS}?${query}`)).json(), "links");

  test("asks what was asked, with the tools and the memory of then, and expects the correction", async () => {
    const suite = await fresh();
    const runId = await asked({ order: 7, says: { city: "Vienna" } });
    const annotationId = await correct(runId, '{ "city": "Wien" }');
    const before = await suiteText(`${suite}@1.0.0`);
    const added = await add({ runId, suite });
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
    expect(JSON.parse(await suiteText(suite))).toEqual(JSON.parse(added.text));
    expect(await suiteText(`${suite}@1.0.0`)).toBe(before);

    const link = { suiteId: suite, version: "1.1.0", taskId: runId, runId, annotationId, nodeId: "ask", by: "ada" };
    expect((await links(`runId=${runId}`)).links).toEqual([expect.objectContaining(link)]);
    expect((await links(`suiteId=${suite}`)).links).toEqual([expect.objectContaining(link)]);
    expect((await links(`suiteId=${suite}&runId=run-00000000000000000000000000`)).links).toEqual([]);

    // And it is a task like any other: what answered as it did then fails it.
    const again = await evaluated(suite);
    const summary = (await host.ask("GET", `/v1/runs/${again}/eval-summary`)).json();
    expect(summary.tasks).toContainEqual(expect.objectContaining({ taskId: runId, passed: false }));
  });

  test("asks what was asked then, without what the workflow or anybody keeps secret", async () => {
    const inputs = { question: { city: "?", key: KNOWN_SECRET }, pin: "open-sesame-4711" };
    const runId = await started({ workflowId: "changed", inputs });
    await correct(runId, "Wien");
    const { task } = await add({ runId, suite: await fresh() });
    expect(task.input).toEqual({ task: { city: "?", key: "[REDACTED]" }, pin: MASK });
  });

  test("goes to the suite that is for the agent, or the evaluation was made with, where none is named", async () => {
    await refused({ runId: await corrected("x1") }, /are all written for local.test.echo/);
    const suite = await fresh([goldenTask("capital", { says: "Vienna" }, "Vienna")]);
    const runId = await evaluated(suite);
    await correct(runId, "Wien", { eventId: await eventOf(runId, "eval.scored") });
    expect(await add({ runId })).toMatchObject({ suiteId: suite, version: "1.1.0" });
  });
  const corrected = async (says: string) => {
    const runId = await asked({ says });
    await correct(runId, `${says}, better`);
    return runId;
  };

  describe("of an evaluation", () => {
    test("is the task that was corrected, by its score or by anything that happened in it", async () => {
      const tasks = ["a", "b", "c"].map((one) => ({
        ...goldenTask(one, { says: one }, one),
        fixtures: { memorySeed: [{ content: `seed of ${one}` }] },
      }));
      const suite = await fresh(tasks);
      const runId = await evaluated(suite);
      await refused({ runId }, /nobody has corrected/);
      await correct(runId, "whole");
      await refused({ runId }, /several tasks/);
      await correct(runId, "nothing", { eventId: await eventOf(runId, "eval.started") });
      await refused({ runId }, /belongs to no task/);
      const scored = (await host.store.readEvents(runId, 0, 1000)).filter(({ type }) => type === "eval.scored");
      const [first, second] = scored.map(({ body }) => JSON.parse(body).payload.taskId as string);
      await correct(runId, "one", { eventId: await eventOf(runId, "eval.scored") });
      const one = await add({ runId });
      expect(one.task).toMatchObject({
        taskId: `${first}-corrected`,
        input: { says: first },
        expected: { match: { strategy: "exact", value: "one" } },
        fixtures: { memorySeed: [{ content: `seed of ${first}` }] },
      });
      expect(one.notes).toEqual([expect.stringContaining(`Task ${first} asks the same`)]);
      await correct(runId, "two", { eventId: await eventOf(runId, "agent.decided", 1) });
      expect((await add({ runId })).task.taskId).toBe(`${second}-corrected`);
      expect((await links(`runId=${runId}`)).links.map(({ version }) => version).sort()).toEqual(["1.1.0", "1.2.0"]);
    });
  });

  describe("of a run with several agents", () => {
    test("needs a correction of one node, or of what happened there", async () => {
      const suite = await fresh();
      const runId = await asked({ says: "both" }, "two");
      await correct(runId, "neither");
      await refused({ runId, suite }, /asked at ask, again/);
      await correct(runId, "better", { nodeId: "again" });
      expect(await add({ runId, suite, taskId: "by-node" })).toMatchObject({ link: { nodeId: "again" } });
      await correct(runId, "best", { eventId: await eventOf(runId, "agent.decided") });
      const byEvent = await add({ runId, suite, taskId: "by-event" });
      expect(byEvent).toMatchObject({ link: { nodeId: "ask" }, task: { expected: { match: { value: "best" } } } });
    });
  });

  describe("is refused", () => {
    test("where it would pass on what was answered, with the difference there is not", async () => {
      const runId = await asked({ says: "right" });
      await correct(runId, "right");
      const details = await refused({ runId, suite: await fresh() }, /the recorded answer passes it/);
      expect(details).toMatchObject({ proof: { recorded: { score: 1 }, correction: { passed: true } } });
    });
    test("where the agent answers JSON and the correction is none", async () => {
      const runId = await asked({ says: { a: 1 } });
      await correct(runId, "just a text");
      await refused({ runId, suite: await fresh() }, /the agent answered JSON/);
    });
    test("where the agent takes no such task, or could never answer as the correction says", async () => {
      const suite = await fresh();
      const strict = await started({ workflowId: "strict", inputs: { question: { n: 1 } } });
      await correct(strict, '{ "city": "Wien" }');
      await refused({ runId: strict, suite }, /takes no such task: it must have required property 'city'/);
      const asking = await started({ workflowId: "strict", inputs: { question: { city: "Vienna" } } });
      await correct(asking, '{ "town": "Wien" }');
      await refused({ runId: asking, suite }, /no answer that local.test.strict can give.*required property 'city'/);
      await correct(asking, '{ "city": "Wien" }');
      await add({ runId: asking, suite });
    });
    test("where the suite has it already, and where its name is taken", async () => {
      const suite = await fresh();
      const runId = await asked({ says: "twice" });
      await correct(runId, "twice, better");
      await add({ runId, suite });
      await refused({ runId, suite }, /asks and expects the same/);
      await correct(runId, "twice, best");
      await refused({ runId, suite, taskId: "known" }, /has a task known/);
      expect(await add({ runId, suite })).toMatchObject({ version: "1.2.0", task: { taskId: `${runId}-2` } });
    });
    test("where only an agent corrected, where the correction was withdrawn, and where no agent was asked", async () => {
      const suite = await fresh();
      const runId = await asked({ says: "hm" });
      const bot = await Member.join(host, `bot-${runId}`, { kind: "agent" });
      const signal = { kind: "correction", correction: "by a bot" };
      expect((await bot.ask("POST", `/v1/runs/${runId}/annotations`, { signal })).statusCode).toBe(201);
      await refused({ runId, suite }, /only agents have corrected/);
      const annotationId = await correct(runId, "by a person");
      expect((await tryAdd({ runId, suite, check: true })).statusCode).toBe(200);
      await host.ask("POST", `/v1/host/assay/annotations/${annotationId}:retract`, { json: { reason: "no" } });
      await refused({ runId, suite }, /only agents have corrected/);
      await refused({ runId, suite, annotationId }, /is no correction of this run/);
      const plain = await host.newRun();
      await until(host.store, plain, ({ status }) => isTerminal(status));
      await correct(plain, "something");
      await refused({ runId: plain, suite }, /no agent was asked/);
    });
    test("for those who cannot see the run, or may not write suites or read runs", async () => {
      const suite = await fresh();
      const runId = await corrected("mine");
      expectError(await tryAdd({ runId, suite }, "other"), "not_found");
      expectError(await tryAdd({ runId, suite }, "viewer"), "forbidden");
      const writer = await Member.join(host, `writer-${runId}`, { roles: ["owner"], scopes: ["suites:write"] });
      expectError(await writer.ask("POST", ADD, { runId, suite }), "forbidden");
      expect((await links(`runId=${runId}`)).links).toEqual([]);
      expect((await host.ask("GET", `${LINKS}?runId=${runId}`, { as: "other" })).json()).toEqual({ links: [] });
    });
  });

  test("is a step of a tape that was brought here, where that was corrected", async () => {
    const suite = await fresh();
    const tape = tapeText({ greeting: `hello ${suite}` });
    const { runId } = (await host.ask("POST", "/v1/host/assay/tapes", { json: { tape } })).json();
    await correct(runId, "the whole of it");
    await refused({ runId, suite }, /no step of the tape that gave an answer/);
    const events = (await host.store.readEvents(runId, 0, 100)).map(({ body }) => JSON.parse(body));
    const step = events.find(({ payload }) => payload.kind?.kind === "llm_call");
    await correct(runId, "good day", { eventId: step.eventId });
    const { task, notes } = await add({ runId, suite });
    expect(task).toMatchObject({
      input: { request_digest: expect.any(String) },
      expected: { match: { value: "good day" } },
    });
    expect(notes).toEqual([expect.stringContaining("only the digest")]);
  });

  test("is only told of when it is checked", async () => {
    const suite = await fresh();
    const runId = await corrected("checked");
    const answer = await tryAdd({ runId, suite, check: true });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ kept: false, link: null, version: "1.1.0" });
    expectError(await host.ask("GET", `/v1/host/assay/suites/${suite}@1.1.0`), "not_found");
    expect((await links(`runId=${runId}`)).links).toEqual([]);
  });

  test("goes into a suite that is kept elsewhere, or begins one, and the link stays here", async () => {
    const runId = await corrected("elsewhere");
    const text = JSON.stringify({ ...SUITE, suiteId: "local.test.evals.file" }, null, 2);
    const added = await add({ runId, suiteText: text });
    expect(added).toMatchObject({ kept: false, version: "1.1.0", link: { suiteId: "local.test.evals.file" } });
    expectError(await host.ask("GET", "/v1/host/assay/suites/local.test.evals.file"), "not_found");
    const begun = await add({ runId, newSuiteId: "local.test.evals.begun" });
    expect(JSON.parse(begun.text)).toMatchObject({ version: "0.1.0", targetAgentId: AGENT_ID, modes: ["golden"] });
    expect((await links(`runId=${runId}`)).links).toHaveLength(2);
    await refused({ runId, newSuiteId: SUITE.suiteId }, /already/);
    await refused({ runId, suiteText: "{" }, /suite/);
    await refused({ runId, suiteText: text, suite: REF }, /name one of/);
  });

  test("is in a version of its own when several are added at once", async () => {
    const suite = await fresh();
    const runIds = await Promise.all(["p", "q", "r"].map(corrected));
    const added = await Promise.all(runIds.map((runId) => add({ runId, suite })));
    expect(added.map(({ version }) => version).sort()).toEqual(["1.1.0", "1.2.0", "1.3.0"]);
    expect(JSON.parse(await suiteText(suite)).tasks).toHaveLength(4);
  });
});
