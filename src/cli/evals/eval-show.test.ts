import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EvalTaskBodies } from "../../protocol/evals/eval-task-bodies.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { AGENT_ID, agentOf, agentsOf, goldenTask, suiteOf } from "../../testing/eval-bench.ts";
import { EvalDesk, evalCommand, lettersSuite } from "../../testing/eval-command.ts";
import { type EvalServer, evalServer } from "../../testing/eval-server.ts";
import { KEYS, type Who } from "../../testing/host.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { taskText } from "./eval-show.ts";

const runIdIn = (text: string) => /run-[0-9a-z]+/.exec(text)?.[0] ?? "";

describe("assay eval show RUN TASK", () => {
  test("prints the input of a task, and the output, reasoning and tool calls of its trial", async () => {
    const desk = new EvalDesk();
    const file = desk.file("suite.json", lettersSuite("ab"));
    const script = {
      a: {
        reasoning: ["Let me see.\nIt is a letter."],
        toolCalls: [{ name: "crm:find", arguments: { id: 1 } }],
        output: "?",
      },
      b: { output: "b" },
    };
    const ran = await desk.eval("run", file, ...desk.agents(script));
    const shown = await desk.eval("show", runIdIn(ran.out), "a");
    expect(shown).toMatchObject({ code: 0, err: expect.stringMatching(/^assay: looking in [^\n]*$/) });
    expect(shown.out).toMatch(/^local\.test\.evals\.echo@1\.0\.0 {2}a {2}local\.test\.scripted .* run-/);
    for (const text of [
      "✗ score 0, passes with 1",
      "Input\n  a\n",
      "Expected (exact)\n  a\n",
      "  Output\n    ?\n",
      "  Difference\n",
      "  Reasoning\n    Let me see.\n    It is a letter.\n",
      '  Tool calls\n    1. crm:find {"id":1}\n       ✗ tool_not_allowed: ',
    ]) {
      expect(shown.out).toContain(text);
    }
    expect((await desk.eval("show", "latest", "a")).out).toBe(shown.out);
    const json = JSON.parse((await desk.eval("show", "latest", "b", "--json")).out);
    expect(json).toMatchObject({ taskId: "b", passed: true, trials: [{ output: "b" }] });
  });

  test("prints the mode of each trial", async () => {
    const desk = new EvalDesk();
    const file = desk.file("suite.json", lettersSuite("a", { modes: ["golden", "adversarial"] }));
    await desk.eval("run", file, ...desk.agents({ a: { output: "a" } }));
    expect((await desk.eval("show", "latest", "a")).out).toMatch(
      /Trial 1 of mode golden [\s\S]*Trial 1 of mode adversarial /,
    );
  });

  test("has no reasoning after eval run --reasoning off", async () => {
    const desk = new EvalDesk();
    const file = desk.file("suite.json", lettersSuite("a"));
    const agents = desk.agents({ a: { reasoning: ["Let me see."], output: "a" } });
    await desk.eval("run", file, ...agents, "--reasoning", "off");
    expect((await desk.eval("show", "latest", "a")).out).not.toContain("Reasoning");
    expect(await desk.eval("run", file, ...agents, "--reasoning", "loud")).toMatchObject({ code: 2 });
  });

  test("suggests the nearest task, and refuses files", async () => {
    const desk = new EvalDesk();
    const file = desk.file("suite.json", suiteOf([goldenTask("refund-small", "x")]));
    await desk.eval("run", file, ...desk.agents({ "refund-small": { output: "x" } }));
    const missed = await desk.eval("show", "latest", "refund-smal");
    expect(missed).toMatchObject({ code: 2, err: expect.stringContaining("Did you mean refund-small?") });
    const md = await desk.eval("show", "latest", "refund-small", "--md", "x.md");
    expect(md).toMatchObject({ code: 2, err: expect.stringContaining("go without TASK") });
  });
});

describe("assay eval show with a server", () => {
  let host: EvalServer;
  let url: string;
  beforeAll(async () => {
    const agents = agentsOf([agentOf()], async () => ({ type: "completed", output: "said in confidence" }));
    host = await evalServer(await openSqliteStore({ path: ":memory:" }), { agents });
    url = await host.listen();
  });
  afterAll(() => host.close());
  const assay = (argv: readonly string[], who: Who) => evalCommand(argv, { ASSAY_URL: url, ASSAY_KEY: KEYS[who].key });

  test("prints figures for a key that may not read bodies, and names the missing scope", async () => {
    const file = new EvalDesk().file("suite.json", lettersSuite("a"));
    const runId = runIdIn((await assay(["run", file, "--agent", AGENT_ID], "owner")).out);
    expect((await assay(["show", runId, "a"], "owner")).out).toContain("said in confidence");
    expect(await assay(["show", runId, "a"], "viewer")).toMatchObject({
      code: 3,
      err: expect.stringContaining("artifacts:read"),
    });
    const figures = await assay(["show", runId], "viewer");
    expect(figures.out).toContain("Outputs are not shown: this key lacks scope artifacts:read.");
    expect(figures.out).not.toContain("said in confidence");
  });
});

const TASK: EvalTaskBodies = {
  runId: "run-1",
  suiteId: "acme.evals.tone",
  suiteVersion: "1.0.0",
  agentId: "local.acme.x",
  resolvedAgentVersion: "1.0.0",
  taskId: "hello",
  input: { name: "Ada" },
  expected: { kind: "rubric", rubric: [{ criterion: "It is polite.", weight: 1 }] },
  fixtures: {
    toolResponses: [{ tool: "crm:find", response: { none: true } }],
    memorySeed: [{ content: "Ada is polite." }],
  },
  score: 0,
  passed: false,
  bar: 0.7,
  trials: [
    {
      trial: 1,
      mode: "rubric",
      invocationId: "inv-1",
      passed: false,
      score: 0,
      retries: 1,
      cached: true,
      latencyMs: 12,
      output: "Go\u001b[2J away.",
      toolCalls: [{ tool: "crm:find", result: { none: true } }],
      toolCallsLeftOut: 3,
      criteria: [{ criterion: "It is polite.", met: false, evidence: "Go away." }],
      findings: [{ kind: "other", severity: "high", by: "judge", note: "rude" }],
    },
  ],
};

test("a task with a rubric is shown with the judge's verdicts and findings, and what others wrote moves no cursor", () => {
  const text = taskText(TASK, recordedIo().paint);
  for (const part of [
    "Expected (rubric)\n  1  It is polite.\n",
    'Fixtures\n  crm:find → {"none":true}\n  memory {"content":"Ada is polite."}\n',
    "Trial 1 of mode rubric  score 0,",
    "tried 2 times, from the cache",
    "  Output\n    Go\ufffd[2J away.\n",
    '    1. crm:find\n       → {"none":true}\n    … and 3 more calls that were not kept\n',
    "  Judge\n    ✗ It is polite.: Go away.\n",
    "  Findings\n    other (high), noticed by judge: rude",
  ]) {
    expect(text).toContain(part);
  }
});
