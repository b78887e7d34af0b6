import { describe, expect, test } from "vitest";
import { goldenTask, suiteOf } from "../../testing/eval-bench.ts";
import { EvalDesk, lettersScript, lettersSuite, SCRIPTED } from "../../testing/eval-command.ts";

const runIdIn = (text: string) => /run-[0-9a-z]+/.exec(text)?.[0] ?? "";

describe("what assay eval run is given by name", () => {
  test("takes tasks by pattern, and those that did not pass before", async () => {
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

  test("says which agent or suite there is not, and which was probably meant", async () => {
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
