import { describe, expect, test } from "vitest";
import { scrubber } from "../../formats/secrets/scrub.ts";
import type { AgentEvalSuite, EvalTask, MatchStrategy } from "../../protocol/evals/eval-suite.ts";
import {
  agentOf,
  agentsOf,
  type Behaviour,
  EVAL_SETTINGS,
  echo,
  goldenTask,
  suiteOf,
} from "../../testing/eval-bench.ts";
import type { Judge, JudgeAnswer, JudgeQuestion } from "../judge/judge.ts";
import { Budget } from "./budget.ts";
import type { EvalPlan } from "./eval-plan.ts";
import type { EvalRun } from "./eval-run.ts";
import { runTask } from "./run-task.ts";

const SECRET = `AKIA${"QRSTUVWXYZABCDEF"}`;
const WORD = "tulip-in-may";
const crashed = (message: string) =>
  ({ type: "failed", error: { code: "agent_crashed", message, retryable: true } }) as const;

interface Setting {
  readonly plan?: Partial<EvalPlan>;
  readonly suite?: Partial<AgentEvalSuite>;
  readonly judge?: Judge;
  readonly agent?: Parameters<typeof agentOf>[0];
}

async function ran(task: EvalTask, behave: Behaviour, { plan, suite, judge, agent }: Setting = {}) {
  let ids = 0;
  const installed = agentOf({ toolAllowlist: ["crm:find"], ...agent });
  const services = agentsOf([installed], behave);
  const run = {
    host: { scrubber: scrubber(), nowMs: Date.now, newId: (prefix: string) => `${prefix}-${++ids}` },
    services: { agents: services, settings: EVAL_SETTINGS, ...(judge === undefined ? {} : { judge }) },
    runId: "run-1",
    nodeId: "eval",
    owner: { tenant: "acme" },
    plan: { modes: [task.expected.kind], trials: 1, retryErrors: 0, cache: false, ...plan },
    suite: suiteOf([task], suite),
    agent: installed,
    binding: services.bindingFor(installed, undefined, "acme"),
    signal: new AbortController().signal,
  };
  const { result, events } = await runTask(run as unknown as EvalRun, task, new Budget(undefined));
  return { result, events, scored: events.at(-1) };
}

function rubricTask(more: Partial<EvalTask> = {}): EvalTask {
  return {
    ...goldenTask("a", "a"),
    expected: { kind: "rubric", rubric: [{ criterion: "polite", weight: 1 }] },
    ...more,
  };
}

/** Is shown a question, and answers what the test says. */
function judgeOf(answer: Partial<Extract<JudgeAnswer, { type: "judged" }>> | Extract<JudgeAnswer, { type: "failed" }>) {
  const asked: JudgeQuestion[] = [];
  const judge: Judge = {
    identity: { agentId: "judge", model: "m", promptHash: "0".repeat(64) },
    judge: async (question) => {
      asked.push(question);
      const met = question.rubric.map(() => ({ met: true, evidence: "yes" }));
      return "error" in answer ? answer : { type: "judged", criteria: met, findings: [], usage: [], ...answer };
    },
  };
  return { judge, asked };
}

describe("a task", () => {
  test("has the mean of the trials that could be scored, and the others as errors", async () => {
    const { result } = await ran(
      goldenTask("a", "a"),
      ({ input, trial }) => (trial === 1 ? { type: "completed", output: input } : crashed("exit 1")),
      { plan: { trials: 2 } },
    );
    expect(result).toMatchObject({
      score: 1,
      passed: true,
      trials: [{ score: 1 }, { error: { code: "agent_crashed" } }],
    });
    expect(result?.trials[1]).not.toHaveProperty("score");
  });

  test("does not pass without an answer, however low its bar", async () => {
    const { result } = await ran(rubricTask(), () => crashed("exit 1"), { suite: { thresholds: { passScore: 0 } } });
    expect(result).toMatchObject({ score: 0, passed: false });
  });

  test("counts in its event what was found, and says nothing else of it", async () => {
    const { scored } = await ran(goldenTask("a", "a"), async ({ tools, signal }) => {
      await tools.call("shell:run", {}, signal);
      return { type: "completed", output: `My orders: ${agentOf().systemPrompt} ${SECRET}` };
    });
    expect(scored).toMatchObject({
      type: "eval.scored",
      payload: { taskId: "a", safetyFindingCount: 3, passed: false },
    });
    expect(Object.keys(scored?.payload ?? {}).sort()).toEqual(
      ["costUsd", "latencyMs", "passed", "safetyFindingCount", "score", "taskId"].sort(),
    );
  });

  test("answers each call of a tool with the next of its answers, and the last one ever after", async () => {
    const responses = ["first", "second"].map((response) => ({ tool: "crm:find", response }));
    const { result } = await ran({ ...goldenTask("a", "a"), fixtures: { toolResponses: responses } }, async (task) => {
      const answers: unknown[] = [];
      for (const _ of [1, 2, 3]) answers.push(await task.tools.call("crm:find", {}, task.signal));
      return { type: "completed", output: answers.map((one) => (one as { outcome: unknown }).outcome) };
    });
    expect(result?.trials[0]?.output).toEqual(["first", "second", "second"]);
  });
});

describe("an answer", () => {
  test("that declines is scored like any other", async () => {
    const declining: Behaviour = () => ({ type: "refused", reason: "I may not do that" });
    const { result } = await ran(goldenTask("a", "a", "I may not do that"), declining);
    expect(result).toMatchObject({ score: 1, passed: true });
    expect(result?.trials[0]).not.toHaveProperty("error");
  });

  test("that is not as the agent's schema has it is wrong, and no error", async () => {
    const agent = { returnSchema: { type: "object" } };
    const { result, scored } = await ran(goldenTask("a", "a"), () => ({ type: "completed", output: "text" }), {
      agent,
    });
    expect(result).toMatchObject({ score: 0, passed: false, schemaValid: false });
    expect(result?.trials[0]).not.toHaveProperty("error");
    expect(scored?.payload).toMatchObject({ schemaValid: false });
  });
});

describe("what is kept of a task", () => {
  test("holds no secret that the agent, its tools or its judge let slip", async () => {
    const { judge, asked } = judgeOf({
      criteria: [{ met: true, evidence: `it said ${SECRET}` }],
      findings: [{ kind: "data-leak", severity: "low", evidence: `it said ${SECRET}` }],
    });
    const fixtures = { toolResponses: [{ tool: "crm:find", response: `key ${SECRET}` }] };
    const leaking: Behaviour = async ({ tools, signal }) => {
      await tools.call("crm:find", {}, signal);
      return { type: "completed", output: { said: SECRET } };
    };
    const rubric = await ran(rubricTask({ fixtures }), leaking, { judge, plan: { modes: ["rubric", "adversarial"] } });
    expect(rubric.result?.trials[0]).toHaveProperty("criteria");
    expect(rubric.result?.findings.map(({ by, mode }) => [by, mode])).toEqual([
      ["secret", "rubric"],
      ["judge", "rubric"],
      ["secret", "adversarial"],
      ["judge", "adversarial"],
    ]);
    expect(asked.map(({ adversarial }) => adversarial)).toEqual([false, true]);
    const golden = await ran(goldenTask("a", "a"), () => ({ type: "completed", output: `no ${SECRET}` }));
    expect(golden.result?.trials[0]).toHaveProperty("difference");
    const failed = await ran(goldenTask("a", "a"), () => crashed(`exit 1: ${SECRET}`));
    const error = { code: "judge_output_invalid", message: `it answered ${SECRET}` } as const;
    const unjudged = await ran(rubricTask(), echo, { judge: judgeOf({ type: "failed", error, usage: [] }).judge });
    expect(JSON.stringify([rubric, asked, golden, failed, unjudged])).not.toContain(SECRET);
  });

  test.each<[MatchStrategy, unknown, unknown]>([
    ["json-match", { db: { password: "other" } }, { db: { password: WORD } }],
    ["json-match", { password: "other" }, `{"password":"${WORD}"}`],
    ["json-match", { args: ["psql", "--password", "other"], n: 1 }, { args: ["psql", "--password", WORD], n: 2 }],
    ["json-match", [{ name: "DB_PASSWORD", value: "x" }], [{ name: "DB_PASSWORD", value: WORD }]],
    ["exact", "psql --password other -h db", `psql --password ${WORD} -h db`],
    ["exact", `password=${"o".repeat(500)}`, `password=${WORD.repeat(40)}`],
    ["contains", "login -p other", `login -p ${WORD}`],
  ])(
    "shows no secret in how an output differs that is known by its name: %s of %j",
    async (strategy, value, output) => {
      const task: EvalTask = { taskId: "a", input: 1, expected: { kind: "golden", match: { strategy, value } } };
      const { result } = await ran(task, () => ({ type: "completed", output }));
      expect(result?.trials[0]).toHaveProperty("difference.summary");
      expect(JSON.stringify(result)).not.toContain(WORD);
    },
  );

  test("is not told to the agent where it looks like a secret", async () => {
    const remembering: Behaviour = ({ memory }) => ({ type: "completed", output: memory[0]?.content });
    const fixtures = { memorySeed: [{ content: `the key is ${SECRET}` }] };
    const { result } = await ran({ ...goldenTask("a", "a"), fixtures }, remembering);
    expect(result?.trials[0]?.output).toMatch(/^the key is /);
    expect(result?.findings).toEqual([]);
  });

  test("is cut where it is long", async () => {
    const { result } = await ran(goldenTask("a", "a"), () => ({ type: "completed", output: "x".repeat(30_000) }));
    expect(String(result?.trials[0]?.output)).toHaveLength(20_000);
  });
});

describe("the cost of a task", () => {
  const costly: Behaviour = ({ input }, watch) => {
    watch.usage({ provider: "p", model: "m", inputTokens: 1, outputTokens: 1, costUsd: 1 });
    return { type: "completed", output: input };
  };
  const usage = { provider: "p", model: "j", inputTokens: 1, outputTokens: 1 };

  test("is that of its judge too, also when the judge gave no verdict", async () => {
    const judged = await ran(rubricTask(), costly, judgeOf({ usage: [{ ...usage, costUsd: 0.5 }] }));
    expect(judged.result?.costUsd).toBe(1.5);
    const error = { code: "judge_refused", message: "no" } as const;
    const failed = judgeOf({ type: "failed", error, usage: [{ ...usage, costUsd: 0.5 }] });
    expect((await ran(rubricTask(), costly, failed)).result?.costUsd).toBe(1.5);
  });

  test("is not known where a price is missing, of the agent or of the judge", async () => {
    const unpriced = await ran(rubricTask(), costly, judgeOf({ usage: [usage] }));
    expect(unpriced.result).not.toHaveProperty("costUsd");
    expect(unpriced.scored?.payload).not.toHaveProperty("costUsd");
  });
});
