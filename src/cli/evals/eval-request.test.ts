import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EvalResultFile } from "../../formats/evals/eval-json.ts";
import type { EvalTask } from "../../protocol/evals/eval-suite.ts";
import { parse } from "../../protocol/schema.ts";
import { goldenTask, suiteOf } from "../../testing/eval-bench.ts";
import { EvalDesk, lettersScript, lettersSuite, SCRIPTED } from "../../testing/eval-command.ts";
import { allNamed, readXml } from "../../testing/xml.ts";

const runIdIn = (text: string) => /run-[0-9a-z]+/.exec(text)?.[0] ?? "";

describe("names on the command line of assay eval run", () => {
  test("select tasks by pattern, and tasks that did not pass before", async () => {
    const desk = new EvalDesk();
    const tasks = ["lamp-new", "lamp-old", "chair-old"].map((taskId) => goldenTask(taskId, taskId, taskId));
    const suite = desk.file("suite.json", suiteOf(tasks));
    const answers = Object.fromEntries(tasks.map(({ taskId }) => [taskId, { output: taskId }]));
    const bad = desk.agents({
      ...answers,
      "lamp-old": { output: "?" },
      "chair-old": { error: { code: "agent_error" } },
    });
    expect((await desk.eval("run", suite, ...bad, "--task", "lamp-*")).out).toContain("1 of 2 tasks");
    const all = await desk.eval("run", suite, ...bad);
    const good = desk.agents(answers);
    const again = await desk.eval("run", suite, ...good, "--failed-in", "latest");
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining("2 of 2 tasks") });
    expect((await desk.eval("run", suite, ...good, "--failed-in", "latest")).err).toContain(
      "every task passed in run-",
    );
    const both = ["--failed-in", runIdIn(all.out), "--task", "*-old", "--task", "lamp*"];
    expect((await desk.eval("run", suite, ...good, ...both)).out).toContain("2 of 2 tasks");
    const typo = await desk.eval("run", suite, ...good, "--task", "lamp-odl");
    expect(typo).toMatchObject({
      code: 2,
      err: expect.stringContaining("error: the suite has no task lamp-odl. Did you mean lamp-old?"),
    });
  });

  test("that do not exist get the nearest agent or suite as a suggestion", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", lettersSuite("a"));
    const [, , ...bound] = desk.agents(lettersScript("a"));
    const typo = await desk.eval("run", suite, "--agent", `${SCRIPTED}s`, ...bound, "--any-agent");
    expect(typo.err).toContain(`There is no agent ${SCRIPTED}s here. Did you mean ${SCRIPTED}?`);
    const unknown = await desk.eval("run", suite, "--agent", "vendor.other.thing", "--any-agent");
    expect(unknown.err).toContain("There is no agent vendor.other.thing here");
    expect(unknown.err).toContain("--agents FILE");
    const named = await desk.eval("run", "local.test.evals.ecoh@1.0.0", "--agent", SCRIPTED, ...bound);
    expect(named.err).toContain("Did you mean local.test.evals.echo@1.0.0?");
  });
});

const LETTERS = "abcdefghijkl";
const POLITE: EvalTask = {
  taskId: "polite",
  input: "hello",
  expected: { kind: "rubric", rubric: [{ criterion: "is polite", weight: 1 }] },
};

/** Twelve golden tasks and one with a rubric, for which there is no judge. */
function unjudgedDesk() {
  const desk = new EvalDesk();
  const golden = lettersSuite(LETTERS, { modes: ["golden", "rubric", "regression"] });
  const suite = desk.file("suite.json", { ...golden, tasks: [...golden.tasks, POLITE] });
  const agent = desk.agents(lettersScript(LETTERS));
  return { desk, run: (...flags: string[]) => desk.eval("run", suite, ...agent, ...flags) };
}

describe("a suite with a task that cannot be run", () => {
  test("has no verdict, and names the reason and the remedy on the terminal and in every file", async () => {
    const { desk, run } = unjudgedDesk();
    const files = ["junit.xml", "r.json", "r.md", "r.sarif"].map((name) => join(desk.folder, name));
    const [junit = "", json = "", md = "", sarif = ""] = files;
    const { code, out } = await run("--junit", junit, "--json", json, "--md", md, "--sarif", sarif);
    expect(code).toBe(5);
    const why = "1 task was not run in mode rubric: no judge is configured.";
    expect(out).toContain(`! No verdict: 12 of 12 tasks passed, score 1`);
    expect(out).toContain(
      `but ${why} Configure a judge in the agents file, or do without them: --allow-missing rubric.`,
    );
    expect(out).not.toContain("Passed:");
    const root = readXml(readFileSync(junit, "utf8"));
    expect(root.attributes).toMatchObject({ tests: "14", failures: "0", errors: "1", skipped: "1" });
    const [skipped] = allNamed(root, "testcase").filter(({ attributes }) => attributes["name"] === "polite");
    expect(skipped?.children).toMatchObject([{ name: "skipped", attributes: { message: "no judge is configured" } }]);
    const file = parse(EvalResultFile, JSON.parse(readFileSync(json, "utf8")), "result");
    expect(file).toMatchObject({ passed: false, exitCode: 5, verdict: "no_verdict" });
    expect(file.report?.notRun).toMatchObject([
      { mode: "rubric", reason: "no_judge", taskIds: ["polite"], missing: 1 },
      { mode: "regression", reason: "no_baseline", missing: 0 },
    ]);
    expect(file.report?.warnings).toEqual(file.warnings);
    expect(readFileSync(md, "utf8")).toContain(why);
    expect(readFileSync(sarif, "utf8")).toContain(why);
    expect((await desk.eval("show")).out).toBe(out);
  });

  test("passes where its mode or its task is allowed to be missing, and is shown so again", async () => {
    const { desk, run } = unjudgedDesk();
    for (const name of ["rubric", "polite"]) {
      const { code, out } = await run("--allow-missing", name);
      expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("✓ Passed: 12 of 12 tasks") });
      expect(out).toContain("! 1 of 13 tasks of the suite was not run: no judge is configured (mode rubric).");
      expect((await desk.eval("show")).out).toBe(out);
    }
    const typo = await run("--allow-missing", "rubrics");
    expect(typo).toMatchObject({ code: 2, err: expect.stringContaining("neither a mode nor a task") });
  });

  test("passes where its task was not selected", async () => {
    const { run } = unjudgedDesk();
    expect((await run("--mode", "golden")).code).toBe(0);
    expect((await run("--task", "a,b")).code).toBe(0);
  });

  test("fails where a task that was run failed", async () => {
    const { desk } = unjudgedDesk();
    const suite = join(desk.folder, "suite.json");
    const { code, out } = await desk.eval("run", suite, ...desk.agents(lettersScript(LETTERS, "abcdef")));
    expect({ code, out }).toMatchObject({ code: 1, out: expect.stringContaining("no judge is configured") });
  });
});

describe("an evaluation with a baseline", () => {
  test("has no verdict on fewer modes or tasks than its baseline, unless they are allowed to be missing", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", lettersSuite(LETTERS, { modes: ["golden", "adversarial"] }));
    const agent = desk.agents(lettersScript(LETTERS));
    await desk.eval("run", suite, ...agent);
    await desk.eval("baseline set", "main", "--latest");
    const run = (...flags: string[]) => desk.eval("run", suite, ...agent, "--baseline", "main", ...flags);
    expect((await run("--require-verdict")).code).toBe(0);
    const modes = await run("--mode", "golden");
    expect(modes.code).toBe(5);
    expect(modes.out).toContain(
      "12 tasks of the baseline were not run in mode adversarial: mode adversarial was not asked for. Run them, or do without them: --allow-missing adversarial.",
    );
    expect((await run("--mode", "golden", "--require-verdict", "--allow-missing", "adversarial")).code).toBe(0);
    const tasks = await run("--task", "a,b,c,d,e,f,g,h,i,j,k");
    expect(tasks.code).toBe(5);
    expect(tasks.out).toContain("Compared on the 11 tasks that both have; 0 only here, 1 only in the baseline.");
  });
});

test("a report says which modes ran, and what a task came to in each", async () => {
  const desk = new EvalDesk();
  const suite = desk.file("suite.json", lettersSuite("ab", { modes: ["golden", "adversarial", "live-shadow"] }));
  const agent = desk.agents(lettersScript("ab", "b"));
  const { out } = await desk.eval("run", suite, ...agent);
  expect(out).toMatch(/^Modes +golden 1 of 2, adversarial 1 of 2$/m);
  expect(out).toMatch(/^✗ b +golden 0, adversarial 0; score 0$/m);
  expect(out).toContain("! Mode live-shadow was not run: it runs only when named.");
  expect(out.match(/The output is another text/g)).toHaveLength(1);
  const one = await desk.eval("run", suite, ...agent, "--mode", "golden");
  expect(one.out).toMatch(/^Modes +golden$/m);
});

test("the same agent is exactly as good as its own baseline, whatever tasks the two have", async () => {
  const desk = new EvalDesk();
  const suite = desk.file("suite.json", lettersSuite("abcdef", { modes: ["golden", "regression"] }));
  const agent = desk.agents(lettersScript("abcdef", "f"));
  await desk.eval("run", suite, ...agent, "--task", "a,b,c,d,e");
  await desk.eval("baseline set", "main", "--latest");
  const { out } = await desk.eval("run", suite, ...agent, "--baseline", "main");
  expect(out).toContain("! Compared on the 5 tasks that both have; 1 only here, 0 only in the baseline.");
  const { run } = JSON.parse((await desk.eval("show", "--json")).out);
  expect(run).toMatchObject({ scoreDelta: 0 });
  const compared = JSON.parse((await desk.eval("compare", run.runId, "main", "--json")).out).comparison;
  expect(compared).toMatchObject({
    pairs: 5,
    delta: 0,
    unpaired: { candidate: ["f"] },
    unpairedModes: { candidate: [{ mode: "regression", tasks: 5 }], baseline: [] },
  });
});
