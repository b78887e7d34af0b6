import { describe, expect, test } from "vitest";
import type { InstalledAgent } from "../../agents/agents.ts";
import type { MemoryEntry } from "../../protocol/agents/api.ts";
import type { EvalMode, EvalTask } from "../../protocol/evals/eval-suite.ts";
import { ADA, until } from "../../testing/engine.ts";
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
import { ended, workbench } from "../../testing/workbench.ts";
import { evalReport, evalSummary } from "./eval-report.ts";

const bench = workbench();
const LIVE_MEMORY: MemoryEntry = { id: "m1", content: "lives here", tags: [], createdAt: "2026-01-01T00:00:00.000Z" };

/** Answers with what it could see: what each tool said, and what it remembers. */
const witness: Behaviour = async ({ input, tools, memory, signal }) => {
  const seen: unknown[] = [];
  for (const name of input as string[]) {
    const result = await tools.call(name, {}, signal);
    seen.push(result.status === "ok" ? result.outcome : result.status);
  }
  return { type: "completed", output: { seen, memory: memory.map(({ content }) => content) } };
};

async function evaluated(
  mode: EvalMode | EvalMode[],
  task: Partial<EvalTask> & { readonly input: readonly string[] },
  behave: Behaviour = witness,
  agent: Partial<InstalledAgent> = {},
  configurable: object = {},
) {
  const modes = [mode].flat();
  const { store } = bench;
  const calls: string[] = [];
  const agents = agentsOf([agentOf({ toolAllowlist: ["crm:find", "crm:lost"], ...agent })], behave, {
    toolsFor: async () => ({
      tools: [{ name: "crm:find" }],
      call: async (name) => {
        calls.push(name);
        return { status: "ok", outcome: "live" };
      },
    }),
    memoryFor: async () => [LIVE_MEMORY],
  });
  const suiteId = `local.test.evals.${modes.join("-")}`;
  const suite = suiteOf([{ ...goldenTask("a", null, "?"), ...task }], { modes, suiteId });
  const made = await evalHost(store, suite, { agents });
  const host = { ...made.host, localWorker: bench.work(made.host) };
  const runId = await beginEval({ ...made, host }, { evalModes: modes, ...configurable }, { suite: suiteId });
  await until(store, runId, ended);
  const report = await evalReport(host, ADA, runId, { content: true });
  const trial = report.tasks[0]?.content?.[0] as { readonly output: unknown } | undefined;
  return { calls, report, output: trial?.output };
}

const FIXTURES = {
  toolResponses: [
    { tool: "crm:find", response: "first" },
    { tool: "crm:find", response: "second" },
  ],
  memorySeed: [{ content: "writes from Austria" }],
};

describe("a task of an evaluation", () => {
  test.each(["golden", "adversarial"] as const)(
    "in mode %s finds its fixtures and nothing that is live",
    async (mode) => {
      const { output, calls } = await evaluated(mode, {
        input: ["crm:find", "crm:find", "crm:find"],
        fixtures: FIXTURES,
      });
      expect(output).toEqual({
        seen: ["first", "second", "second"],
        memory: ["writes from Austria"],
      });
      expect(calls).toEqual([]);
    },
  );

  test("without fixtures reaches no tool: the call fails, and nothing is remembered", async () => {
    const { output, calls, report } = await evaluated("golden", { input: ["crm:find"] });
    expect(output).toEqual({ seen: ["error"], memory: [] });
    expect(calls).toEqual([]);
    expect(report.tasks[0]?.findings).toEqual([]);
  });

  test("without a fixture for a tool that it may call gets fixture_missing", async () => {
    const results: unknown[] = [];
    const asks: Behaviour = async ({ tools, signal }) => {
      results.push(await tools.call("crm:lost", {}, signal));
      return { type: "completed", output: null };
    };
    await evaluated("golden", { input: [], fixtures: FIXTURES }, asks);
    expect(results).toMatchObject([{ status: "error", code: "fixture_missing" }]);
  });

  test("reads its seed, or its live memory in mode live-shadow, by the memory tools that it may call", async () => {
    const remembering = { toolAllowlist: ["memory:list"], memoryShape: { longTerm: true } };
    const asks: Behaviour = async ({ tools, signal }) => {
      const [listed, put] = [await tools.call("memory:list", {}, signal), await tools.call("memory:put", {}, signal)];
      const entries = listed.status === "ok" ? (listed.outcome as MemoryEntry[]).map(({ content }) => content) : [];
      return { type: "completed", output: [...entries, put.status] };
    };
    const listed = async (mode: EvalMode) =>
      (await evaluated(mode, { input: [], fixtures: FIXTURES }, asks, remembering)).output;
    expect(await listed("golden")).toEqual(["writes from Austria", "forbidden"]);
    expect(await listed("live-shadow")).toEqual(["lives here", "forbidden"]);
  });

  test("in mode live-shadow finds live tools and memory in place of its fixtures", async () => {
    const { output, calls } = await evaluated("live-shadow", { input: ["crm:find"], fixtures: FIXTURES });
    expect(output).toEqual({ seen: ["live"], memory: ["lives here"] });
    expect(calls).toEqual(["crm:find"]);
  });

  test("has unused fixtures where it asks for its tool in the live pass only", async () => {
    const onlyLive: Behaviour = async ({ tools, memory, signal }) => {
      if (memory.some(({ content }) => content === LIVE_MEMORY.content)) await tools.call("crm:find", {}, signal);
      return { type: "completed", output: "?" };
    };
    const fixtures = { toolResponses: [{ tool: "crm:find", response: "first" }] };
    const { report, calls } = await evaluated(["golden", "live-shadow"], { input: [], fixtures }, onlyLive);
    expect(calls).toEqual(["crm:find"]);
    expect(report.tasks[0]?.fixturesUnused).toEqual(["crm:find"]);
  });

  test("has used the fixtures that an attempt asked for which failed and was made again", async () => {
    let attempts = 0;
    const second: Behaviour = async ({ tools, signal }) => {
      attempts += 1;
      if (attempts > 1) return { type: "completed", output: "?" };
      await tools.call("crm:find", {}, signal);
      return { type: "failed", error: { code: "agent_crashed", message: "exit 1", retryable: true } };
    };
    const fixtures = { toolResponses: [{ tool: "crm:find", response: "first" }] };
    const { report } = await evaluated("golden", { input: [], fixtures }, second, {}, { retryErrors: 1 });
    expect(attempts).toBe(2);
    expect(report.tasks[0]?.fixturesUnused).toEqual([]);
  });

  test("is blamed for a tool outside the allow-list, and not for one that the host does not have", async () => {
    const { output, calls, report } = await evaluated("live-shadow", { input: ["crm:drop", "crm:lost"] });
    expect(output).toMatchObject({ seen: ["forbidden", "forbidden"] });
    expect(report.tasks[0]?.findings).toMatchObject([{ kind: "unsafe-tool-use", severity: "high" }]);
    expect(calls).toEqual([]);
  });
});

test("an evaluation in which nothing was answered has not passed, even where any score would do", async () => {
  const { store } = bench;
  const failing: Behaviour = () => ({
    type: "failed",
    error: { code: "agent_crashed", message: "exit 1", retryable: false },
  });
  const suite = suiteOf([goldenTask("a", "a")], { thresholds: { passScore: 0 } });
  const made = await evalHost(store, suite, { agents: agentsOf([agentOf()], failing) });
  const host = { ...made.host, localWorker: bench.work(made.host) };
  const runId = await beginEval({ ...made, host });
  await until(store, runId, ended);
  expect(await evalSummary(host, ADA, runId)).toMatchObject({ passed: false, aggregateScore: 0 });
  expect(await evalReport(host, ADA, runId)).toMatchObject({ passed: false, unmet: ["score"] });
});

test("an evaluation without a judge or a baseline has the modes and tasks that are left, and says what it left out", async () => {
  const { store } = bench;
  const rubric: EvalTask["expected"] = { kind: "rubric", rubric: [{ criterion: "is polite", weight: 1 }] };
  const tasks = [goldenTask("a", "a"), { taskId: "b", input: "b", expected: rubric }];
  const made = await evalHost(store, suiteOf(tasks, { modes: ["golden", "rubric", "regression"] }), {
    agents: agentsOf([agentOf()], echo),
  });
  const host = { ...made.host, localWorker: bench.work(made.host) };
  const runId = await beginEval({ ...made, host });
  await until(store, runId, ended);
  expect(await evalReport(host, ADA, runId)).toMatchObject({
    modes: ["golden"],
    compared: false,
    leftOut: { modes: ["rubric", "regression"], tasks: 1 },
    notRun: [
      { mode: "rubric", reason: "no_judge", taskCount: 1, taskIds: ["b"], missing: 1, missingFromBaseline: 0 },
      { mode: "regression", reason: "no_baseline", taskCount: 2, taskIds: ["b"], missing: 0, missingFromBaseline: 0 },
    ],
    warnings: [
      "Nothing was compared: there is no baseline.",
      "1 of 2 tasks of the suite was not run: no judge is configured (mode rubric).",
    ],
  });
});
