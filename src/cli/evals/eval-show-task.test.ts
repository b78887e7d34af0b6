import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { AGENT_ID, agentOf, agentsOf, goldenTask, suiteOf } from "../../testing/eval-bench.ts";
import { EvalDesk, evalCommand, lettersSuite } from "../../testing/eval-command.ts";
import { type EvalServer, evalServer } from "../../testing/eval-server.ts";
import { KEYS, type Who } from "../../testing/host.ts";

const runIdIn = (text: string) => /run-[0-9a-z]+/.exec(text)?.[0] ?? "";

describe("assay eval show RUN TASK", () => {
  test("prints what a task was asked, and what its trial answered, reasoned and called", async () => {
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

  test("says of each trial in which mode it was made", async () => {
    const desk = new EvalDesk();
    const file = desk.file("suite.json", lettersSuite("a", { modes: ["golden", "adversarial"] }));
    await desk.eval("run", file, ...desk.agents({ a: { output: "a" } }));
    expect((await desk.eval("show", "latest", "a")).out).toMatch(
      /Trial 1 of mode golden [\s\S]*Trial 1 of mode adversarial /,
    );
  });

  test("keeps no reasoning where eval run was told so", async () => {
    const desk = new EvalDesk();
    const file = desk.file("suite.json", lettersSuite("a"));
    const agents = desk.agents({ a: { reasoning: ["Let me see."], output: "a" } });
    await desk.eval("run", file, ...agents, "--reasoning", "off");
    expect((await desk.eval("show", "latest", "a")).out).not.toContain("Reasoning");
    expect(await desk.eval("run", file, ...agents, "--reasoning", "loud")).toMatchObject({ code: 2 });
  });

  test("names the task that was probably meant, and takes no files", async () => {
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

  test("shows figures to a key that may not read bodies, and says which scope it lacks", async () => {
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
