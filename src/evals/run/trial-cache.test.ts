import { describe, expect, test } from "vitest";
import type { Binding } from "../../agents/binding.ts";
import type { EvalMode, EvalTask } from "../../protocol/evals/eval-suite.ts";
import { ADA, until } from "../../testing/engine.ts";
import {
  agentOf,
  agentsOf,
  type Behaviour,
  beginEval,
  EVAL_SETTINGS,
  echo,
  evalHost,
  goldenTask,
  suiteOf,
} from "../../testing/eval-bench.ts";
import { lexicalJudge } from "../../testing/lexical-judge.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import type { EvalPlan } from "./eval-plan.ts";
import { evalReport, evalSummary } from "./eval-report.ts";
import type { EvalRun } from "./eval-run.ts";
import { cacheKey } from "./trial-cache.ts";

const bench = workbench();

interface Changes {
  readonly plan?: Partial<EvalPlan>;
  readonly mode?: EvalMode;
  readonly agent?: Parameters<typeof agentOf>[0];
  readonly binding?: Partial<Binding>;
  readonly judge?: Partial<Binding>;
  readonly passScore?: number;
  readonly workspace?: string;
}

const TASK: EvalTask = { ...goldenTask("a", "ask"), fixtures: { toolResponses: [{ tool: "crm:find", response: 1 }] } };

function keyOf(
  { plan, mode = "golden", agent, binding, judge, passScore = 0.8, workspace }: Changes = {},
  task = TASK,
  trial = 1,
): string | undefined {
  const run = {
    owner: { tenant: "t1", ...(workspace === undefined ? {} : { workspace }) },
    services: {
      agents: agentsOf([], echo),
      settings: EVAL_SETTINGS,
      ...(judge === undefined ? {} : { judge: lexicalJudge(judge).judge }),
    },
    plan: { cache: true, modes: ["golden"], ...plan },
    suite: suiteOf([task], { thresholds: { passScore } }),
    agent: agentOf(agent),
    binding: {
      kind: "model",
      fingerprint: "model:1",
      call: async () => ({ type: "completed", output: 1 }),
      ...binding,
    },
  };
  return cacheKey(run as unknown as EvalRun, task, mode, trial);
}

describe("an earlier result of a trial", () => {
  test("is found again for the same trial, whatever order the members of its input have", () => {
    expect(keyOf()).toMatch(/^[0-9a-f]{64}$/);
    const written = { ...TASK, input: { a: 1, b: 2 } };
    expect(keyOf({}, { ...TASK, input: { b: 2, a: 1 } })).toBe(keyOf({}, written));
  });

  test.each<[string, Changes, EvalTask?, number?]>([
    ["another task, whose name the agent is told", {}, { ...TASK, taskId: "renamed" }],
    ["another input", {}, { ...TASK, input: "other" }],
    ["another expectation", {}, { ...TASK, expected: goldenTask("a", "other").expected }],
    ["other fixtures", {}, { ...TASK, fixtures: { toolResponses: [{ tool: "crm:find", response: 2 }] } }],
    ["another trial", {}, TASK, 2],
    ["another workspace", { workspace: "w1" }],
    ["another agent", { agent: { agentId: "local.test.other", contentHash: agentOf().contentHash } }],
    ["an agent with other content", { agent: { contentHash: "f".repeat(64) } }],
    ["another model", { binding: { fingerprint: "model:2" } }],
    ["another name for what ran", { plan: { agentLabel: "2" } }],
    ["another bar of confidence", { agent: { confidenceThreshold: 0.5 } }],
    ["a look for unsafe conduct", { mode: "adversarial" }],
    ["the pass of another mode", { mode: "regression" }],
  ])("does not stand in for %s", (_, changes, task = TASK, trial = 1) => {
    expect(keyOf(changes, task, trial)).toMatch(/^[0-9a-f]{64}$/);
    expect(keyOf(changes, task, trial)).not.toBe(keyOf());
  });

  test("does not stand in for one that passes at another score", () => {
    const rubric: EvalTask["expected"] = { kind: "rubric", rubric: [{ criterion: "is polite", weight: 1 }] };
    const judged = (passScore: number) =>
      keyOf({ mode: "rubric", judge: { fingerprint: "judge:1" }, passScore }, { ...TASK, expected: rubric });
    expect(judged(0.4)).toBe(judged(0.4));
    expect(judged(0.4)).not.toBe(judged(0.9));
  });

  test("does not stand in for what another judge says", () => {
    const judged = (judge: Partial<Binding>) => keyOf({ mode: "adversarial", judge });
    expect(judged({ fingerprint: "judge:1" })).toBe(judged({ fingerprint: "judge:1" }));
    expect(judged({ fingerprint: "judge:2" })).not.toBe(judged({ fingerprint: "judge:1" }));
    expect(judged({ fingerprint: "judge:1", model: "other" })).not.toBe(judged({ fingerprint: "judge:1" }));
  });

  test.each<[string, Changes]>([
    ["nobody asked for it", { plan: { cache: false } }],
    ["live tools answered", { mode: "live-shadow" }],
    ["a program answered that nobody named", { binding: { kind: "command", fingerprint: "command:1" } }],
    ["an endpoint answered that nobody named", { binding: { kind: "http", fingerprint: "http:1" } }],
    ["nobody can tell what answered", { binding: { fingerprint: undefined as never } }],
    [
      "a judge looked at it that nobody can tell from another",
      { mode: "adversarial", judge: { fingerprint: undefined as never } },
    ],
  ])("is not looked for where %s", (_, changes) => {
    expect(keyOf(changes)).toBeUndefined();
  });

  test("of a program or an endpoint counts under the name that the caller gives it", () => {
    for (const kind of ["command", "http"] as const) {
      expect(keyOf({ binding: { kind }, plan: { agentLabel: "1" } })).toMatch(/^[0-9a-f]{64}$/);
    }
  });

  test("is taken while it is fresh, at no cost, and never where it was an error", async () => {
    let calls = 0;
    const costly: Behaviour = ({ input }, watch) => {
      calls += 1;
      watch.usage({ provider: "p", model: "m", inputTokens: 1, outputTokens: 1, costUsd: 1 });
      if (calls > 1) return { type: "completed", output: input };
      return { type: "failed", error: { code: "agent_crashed", message: "exit 1", retryable: true } };
    };
    const evaluatedWith = async (fingerprint: string, cacheMs: number) => {
      const agents = agentsOf([agentOf()], costly, { binding: { fingerprint } });
      const settings = { ...EVAL_SETTINGS, cacheMs };
      const made = await evalHost(bench.store, suiteOf([goldenTask("a", "a")]), { agents, settings });
      const runId = await beginEval(
        { ...made, host: { ...made.host, localWorker: bench.work(made.host) } },
        { cache: true },
      );
      await until(bench.store, runId, ended);
      return { summary: await evalSummary(made.host, ADA, runId), report: await evalReport(made.host, ADA, runId) };
    };
    expect((await evaluatedWith("fresh", 60_000)).report.figures.trials.errors).toBe(1);
    expect(await evaluatedWith("fresh", 60_000)).toMatchObject({
      summary: { totalCostUsd: 1 },
      report: { cachedTrials: 0 },
    });
    expect(await evaluatedWith("fresh", 60_000)).toMatchObject({
      summary: { aggregateScore: 1, totalCostUsd: 0 },
      report: { cachedTrials: 1, tasks: [{ cached: 1 }] },
    });
    expect(calls).toBe(2);
    for (const _ of [1, 2]) expect((await evaluatedWith("stale", 0)).report.cachedTrials).toBe(0);
    expect(calls).toBe(4);
  });
});
