import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EvalDesk, lettersScript, lettersSuite } from "../../testing/eval-command.ts";

const read = (path: string) => readFileSync(path, "utf8");
const runIdIn = (text: string) => /run-[0-9a-z]+/.exec(text)?.[0] ?? "";

describe("a baseline", () => {
  const letters = "abcdefghijklmnopqrst";
  const suite = lettersSuite(letters, { modes: ["golden", "regression"], thresholds: { passScore: 0 } });

  test("is set by name and compared with; a regression fails, noise passes", async () => {
    const desk = new EvalDesk();
    const file = desk.file("suite.json", suite);
    const good = desk.agents(lettersScript(letters));
    const nothing = await desk.eval("run", file, ...good);
    expect(nothing).toMatchObject({ code: 0, out: expect.stringContaining("score 1") });
    const set = await desk.eval("baseline set", "main", "--latest");
    expect(set).toMatchObject({ code: 0, out: expect.stringContaining("20 of 20 tasks passed") });
    expect((await desk.eval("baseline list")).out).toMatch(/main +local\.test\.evals\.echo@1\.0\.0 +run-/);

    const same = await desk.eval("run", file, ...good, "--baseline", "main");
    expect(same).toMatchObject({ code: 0, out: expect.stringContaining("Baseline") });
    const worse = await desk.eval("run", file, ...desk.agents(lettersScript(letters, "abcdefg")), "--baseline", "main");
    expect(worse).toMatchObject({ code: 1, out: expect.stringContaining("it got worse than its baseline") });
    const bit = await desk.eval("run", file, ...desk.agents(lettersScript(letters, "abcd")), "--baseline", "main");
    expect(bit).toMatchObject({ code: 0, out: expect.stringContaining("may be chance") });
    const strict = ["--baseline", "main", "--fail-on", "suspect,flaky"];
    expect((await desk.eval("run", file, ...desk.agents(lettersScript(letters, "abcd")), ...strict)).code).toBe(1);

    const [from, to] = [runIdIn(set.out), runIdIn(worse.out)];
    const compared = await desk.eval("compare", to, "main");
    expect(compared).toMatchObject({ code: 1, out: expect.stringMatching(/^✗ regressed: /m) });
    expect(compared.out).toMatch(/^Passed +20 of 20 +13 of 20$/m);
    expect(compared.out).toMatch(/^TASK +BASELINE +NOW\na +passed 1 +failed 0 +lost\nb +passed 1 +failed 0 +lost$/m);
    expect((await desk.eval("compare", from, to)).out).toMatch(/^a +failed 0 +passed 1 +gained$[\s\S]*^✓ improved: /m);
    expect((await desk.eval("compare", to, "mian")).err).toContain("There is no baseline mian in ");
    expect((await desk.eval("compare", to, "mian")).err).toContain("Did you mean main?");
    const typo = await desk.eval("run", file, ...good, "--baseline", "mian");
    expect(typo).toMatchObject({ code: 2, err: expect.stringContaining("no baseline mian here") });
    expect(typo.err).toContain("Did you mean main?");
    const listed = (await desk.eval("list")).out;
    expect(listed).toContain("13/20   meets its bars; score -0.35 on the baseline");
    expect(listed).toContain("20/20   meets its bars; score as in the baseline");
    expect(JSON.parse((await desk.eval("compare", to, from, "--json")).out)).toMatchObject({ baselineRunId: from });
    expect((await desk.eval("compare", runIdIn(bit.out), "main")).code).toBe(0);
    expect((await desk.eval("compare", runIdIn(bit.out), "main", "--fail-on", "suspect")).code).toBe(1);
  });

  test("of too few tasks gives no verdict where one is required", async () => {
    const desk = new EvalDesk();
    const file = desk.file("suite.json", lettersSuite("abc"));
    const agent = desk.agents(lettersScript("abc"));
    const runId = runIdIn((await desk.eval("run", file, ...agent)).out);
    const flags = ["--baseline", runId, "--require-verdict"];
    expect(await desk.eval("run", file, ...agent, ...flags)).toMatchObject({
      code: 5,
      out: expect.stringContaining("at least 5 are needed"),
    });
    expect((await desk.eval("compare", runId, runId, "--require-verdict")).code).toBe(5);
    expect((await desk.eval("compare", runId, runId)).code).toBe(0);
    const other = desk.file("other.json", { ...lettersSuite("abcd"), version: "2.0.0" });
    const another = runIdIn((await desk.eval("run", other, ...desk.agents(lettersScript("abcd")))).out);
    expect(await desk.eval("compare", another, runId)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/is of suite local\.test\.evals\.echo@2\.0\.0, and run-\S+ of .*@1\.0\.0/),
    });
  });

  test("is refused where it makes no sense, and can be taken away", async () => {
    const desk = new EvalDesk();
    const file = desk.file("suite.json", lettersSuite("abc"));
    await desk.eval("run", file, ...desk.agents(lettersScript("abc")));
    expect((await desk.eval("baseline set", "main")).code).toBe(2);
    expect((await desk.eval("baseline set", "main", "run-none")).code).toBe(2);
    const run = runIdIn((await desk.eval("list")).out);
    const both = await desk.eval("baseline set", "main", run, "--suite", "local.test.evals.echo");
    expect(both).toMatchObject({ code: 2, err: expect.stringContaining("--suite goes with --latest") });
    expect(await desk.eval("show", run, "--md", desk.folder)).toMatchObject({ code: 2, out: "" });
    expect((await desk.eval("baseline set", "run-main", "--latest")).code).toBe(2);
    expect((await desk.eval("baseline set", "a/b", "--latest")).code).toBe(2);
    expect((await desk.eval("baseline set", "x", "--latest", "--suite", "acme.evals.none")).code).toBe(2);
    expect((await desk.eval("baseline list")).err).toContain("No baselines yet");
    await desk.eval("baseline set", "main", "--latest");
    expect((await desk.eval("baseline remove", "local.test.evals.echo", "main")).code).toBe(0);
    expect((await desk.eval("baseline remove", "local.test.evals.echo", "main")).code).toBe(2);
  });
});

describe("the cache", () => {
  test("is used only on request and under a named version, and says so everywhere", async () => {
    const desk = new EvalDesk();
    const log = desk.file("calls", "");
    const program = desk.program(
      "agent.mjs",
      `import { appendFileSync } from "node:fs"; appendFileSync(${JSON.stringify(log)}, "x"); console.log("a");`,
    );
    const suite = desk.file("suite.json", lettersSuite("a"));
    const calls = () => read(log).length;
    const run = (...flags: string[]) => desk.eval("run", suite, ...program, ...flags);
    const named = (version: string) => ["--cache", "--agent-version", version];
    await run("--agent-version", "v1");
    await run(...named("v1"));
    expect(calls()).toBe(2);
    const json = join(desk.folder, "r.json");
    const again = await run(...named("v1"), "--output", json);
    expect(calls()).toBe(2);
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining("1 of 1 trials were taken from the cache") });
    expect(JSON.parse(read(json))).toMatchObject({ report: { cachedTrials: 1, tasks: [{ cached: 1 }] } });
    await run(...named("v2"));
    await run("--agent-version", "v1");
    expect(calls()).toBe(4);
  });
});
