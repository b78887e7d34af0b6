import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { baselineFileOf, baselineFileText } from "../../formats/evals/baseline-file.ts";
import { canonicalJson } from "../../formats/json/canonical-json.ts";
import { BaselineFile } from "../../protocol/evals/baselines.ts";
import { parse } from "../../protocol/schema.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { AGENT_ID, echo } from "../../testing/eval-bench.ts";
import { EvalDesk, evalCommand, lettersScript, lettersSuite } from "../../testing/eval-command.ts";
import { type EvalServer, evalServer } from "../../testing/eval-server.ts";
import { KEYS, type Who } from "../../testing/host.ts";
import { isSeenByGit } from "./eval-run.ts";

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

  test("is refused for other runs and suites, and can be removed", async () => {
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
  test("is used only with --cache and a named version, and every output marks cached trials", async () => {
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

const letters = "abcdefghijklmnopqrst";
const suite = lettersSuite(letters, { modes: ["golden", "regression"], thresholds: { passScore: 0 } });

/** A desk where main was set and written as a file. */
async function withBaseline() {
  const desk = new EvalDesk();
  const file = desk.file("suite.json", suite);
  const first = await desk.eval("run", file, ...desk.agents(lettersScript(letters)), "--trials", "2");
  await desk.eval("baseline set", "main", "--latest");
  const path = join(desk.folder, "baseline.json");
  const exported = await desk.eval("baseline export", "main", "--out", path);
  return { desk, path, exported, runId: runIdIn(first.out) };
}

let made: Awaited<ReturnType<typeof withBaseline>>;
beforeAll(async () => {
  made = await withBaseline();
});

describe("a baseline in a file", () => {
  test("has what a comparison needs, a line for each task, and no text of tasks", async () => {
    const { desk, path, exported, runId } = made;
    expect(exported).toMatchObject({ code: 0, err: expect.stringMatching(/^assay: looking in .*data$/) });
    expect(exported.out).toContain("main of local.test.evals.echo@1.0.0, 20 tasks");
    const file = parse(BaselineFile, JSON.parse(read(path)), "file");
    expect(file).toMatchObject({
      name: "main",
      suiteId: suite.suiteId,
      suiteVersion: "1.0.0",
      runId,
      trialsPerTask: 2,
    });
    expect(file).toMatchObject({ aggregateScore: 1, passed: true, passedCount: 20, setBy: expect.any(String) });
    const outcome = { score: 1, passed: true, trials: { scored: 2, passed: 2, errors: 0 } };
    expect(file.tasks[0]).toEqual({ taskId: "a", ...outcome, passes: [{ mode: "golden", ...outcome }] });
    expect(read(path).match(/^ {4}\{"taskId"/gm)).toHaveLength(20);
    expect((await desk.eval("baseline export", "main")).out).toBe(read(path));
    const typo = await desk.eval("baseline export", "mian");
    expect(typo).toMatchObject({ code: 2, err: expect.stringContaining("Did you mean main?") });
    const elsewhere = await desk.eval("baseline export", "main", "--suite", "local.test.evals.none");
    expect(elsewhere).toMatchObject({ code: 2, err: expect.stringContaining("There is no baseline main in ") });
  });

  test("is compared with in an empty folder, and every output marks it as imported", async () => {
    const desk = new EvalDesk();
    const file = desk.file("suite.json", suite);
    const out = (name: string) => join(desk.folder, name);
    const files = ["--junit", out("j"), "--output", out("r"), "--md", out("m"), "--sarif", out("s")];
    const bad = desk.agents(lettersScript(letters, "abcdefg"));
    const worse = await desk.eval("run", file, ...bad, "--baseline", made.path, "--require-verdict", ...files);
    expect(worse).toMatchObject({ code: 1, out: expect.stringContaining("it got worse than its baseline") });
    expect(worse.out).toMatch(/^Baseline +main \(imported\): regressed$/m);
    const { sha256: fileSha256 } = JSON.parse(read(made.path));
    expect(JSON.parse(read(out("r")))).toMatchObject({
      run: { baselineRunId: made.runId, baselineFileSha256: fileSha256 },
      report: {
        compared: true,
        baseline: { name: "main", fileSha256, comparison: { verdict: "regressed", pairs: 20 } },
      },
    });
    expect(read(out("j"))).toContain(`name="baselineFileSha256" value="${fileSha256}"`);
    expect(JSON.parse(read(out("s"))).runs[0].properties).toMatchObject({ baselineFileSha256: fileSha256 });
    expect(read(out("m"))).toContain("| Against the baseline (imported) | regressed |");
    expect((await desk.eval("list")).out).toContain("score -0.35 on the imported baseline");
    expect((await desk.eval("show")).out).toBe(worse.out);
    const compared = await desk.eval("compare", runIdIn(worse.out), made.path);
    expect(compared).toMatchObject({ code: 1, out: expect.stringMatching(/^Run +run-\w+ \(imported\) +run-/m) });
    expect(compared.out).toMatch(/^a +passed 1 +failed 0 +lost$/m);
    const good = await desk.eval("run", file, ...desk.agents(lettersScript(letters)), "--baseline", made.path);
    expect(good).toMatchObject({ code: 0 });
  });

  test("gets a name by import, is marked in lists, and is exported unchanged", async () => {
    const desk = new EvalDesk();
    const imported = await desk.eval("baseline import", made.path, "--name", "theirs");
    expect(imported).toMatchObject({ code: 0, out: expect.stringContaining("imported: ") });
    expect((await desk.eval("baseline list")).out).toMatch(/^theirs .*\(imported\)/m);
    const file = desk.file("suite.json", suite);
    const bad = desk.agents(lettersScript(letters, "abcdefg"));
    const worse = await desk.eval("run", file, ...bad, "--baseline", "theirs");
    expect(worse).toMatchObject({ code: 1, out: expect.stringMatching(/^Baseline +theirs \(imported\): regressed$/m) });
    expect((await desk.eval("compare", runIdIn(worse.out), "theirs")).code).toBe(1);
    expect((await desk.eval("baseline export", "theirs")).out).toBe(read(made.path));
    // The run that it was made of is none of this database.
    expect((await desk.eval("baseline set", "main", made.runId)).code).toBe(2);
    const set = await desk.eval("baseline set", "theirs", "--latest");
    expect(set.out).not.toContain("imported");
  });

  test("of version 1, which has no modes, is compared with as one pass of each task", async () => {
    const desk = new EvalDesk();
    const file = desk.file("suite.json", suite);
    const {
      format,
      version: _,
      sha256: __,
      tasks,
      ...content
    } = parse(BaselineFile, JSON.parse(read(made.path)), "file");
    const content1 = { format, version: 1, ...content, tasks: tasks.map(({ passes: ___, ...task }) => task) };
    const sha256 = createHash("sha256").update(canonicalJson(content1)).digest("hex");
    const path = desk.file("old.json", { ...content1, sha256 });
    const agent = desk.agents(lettersScript(letters));
    const compared = await desk.eval("run", file, ...agent, "--baseline", path, "--require-verdict");
    expect(compared).toMatchObject({
      code: 0,
      out: expect.stringContaining("over 20 tasks (0, 95 % interval 0 to 0;"),
    });
    expect(JSON.parse((await desk.eval("show", "--json")).out).run).toMatchObject({ scoreDelta: 0 });
  });

  test("is refused before the agent is called when it is damaged, of another format or of another suite", async () => {
    const desk = new EvalDesk();
    const file = desk.file("suite.json", suite);
    const calls = desk.file("calls", "");
    const program = desk.program(
      "agent.mjs",
      `import { appendFileSync } from "node:fs"; appendFileSync(${JSON.stringify(calls)}, "x"); console.log("a");`,
    );
    const good = JSON.parse(read(made.path));
    const { format: _, version: __, sha256: ___, ...content } = good;
    const again = (changes: object) => JSON.parse(baselineFileText(baselineFileOf({ ...content, ...changes })));
    const refusals: [object | string, RegExp][] = [
      [{ ...good, aggregateScore: 0 }, /damaged or was changed.*baseline export/],
      [{ ...good, tasks: good.tasks.slice(1) }, /damaged or was changed/],
      [{ ...good, agentId: "a\ud800" }, /damaged or was changed/],
      [{ ...good, version: 3 }, /of version 3, and this assay reads 1 to 2/],
      [{ ...good, format: "assay-eval" }, /the result of an evaluation/],
      [{ ...good, format: "tape" }, /it is no baseline/],
      [{ ...good, sha256: undefined }, /must have "sha256"/],
      [{ ...good, output: "x" }, /must not have "output"/],
      [[], /it is no baseline/],
      ["null", /it is no baseline/],
      [read(made.path).slice(0, -30), /it is not JSON/],
      ["", /it is not JSON/],
      [again({ tasks: [...good.tasks, good.tasks[0]] }), /a task is there twice/],
      [again({ tasks: [{ ...good.tasks[0], score: null }] }), /a task passed that has no score/],
      [
        again({ tasks: [{ ...good.tasks[0], passes: [...good.tasks[0].passes, ...good.tasks[0].passes] }] }),
        /a mode of a task is there twice/,
      ],
      [
        again({ suiteSha256: "0".repeat(64) }),
        /was made with other tasks under the name local\.test\.evals\.echo@1\.0\.0/,
      ],
      [again({ suiteVersion: "2.0.0" }), /is of suite local\.test\.evals\.echo@2\.0\.0, and not of/],
      [again({ suiteId: "local.test.evals.other" }), /is of suite local\.test\.evals\.other@1\.0\.0, and not of/],
    ];
    for (const [text, says] of refusals) {
      const path = desk.file("bad.json", text);
      const { code, err, out } = await desk.eval("run", file, ...program, "--baseline", path);
      expect({ code, out, err }).toEqual({ code: 2, out: "", err: expect.stringMatching(says) });
    }
    const missing = await desk.eval("run", file, ...program, "--baseline", join(desk.folder, "none.json"));
    expect(missing).toMatchObject({
      code: 2,
      err: expect.stringMatching(/there is no file .*none\.json; write one with/),
    });
    expect((await desk.eval("run", file, ...program, "--baseline", desk.folder)).code).toBe(2);
    expect((await desk.eval("baseline import", desk.file("bad.json", { ...good, passed: false }))).code).toBe(2);
    expect((await desk.eval("baseline import", made.path, "--name", "a/b")).code).toBe(2);
    expect(read(calls)).toBe("");
    expect((await desk.eval("baseline list")).err).toContain("No baselines yet");
  });
});

describe("a baseline in a file, with a server", () => {
  let host: EvalServer;
  let url: string;
  let isWrong = false;
  beforeAll(async () => {
    host = await evalServer(await openSqliteStore({ path: ":memory:" }), {
      behave: (task, watch) => (isWrong ? { type: "completed", output: "?" } : echo(task, watch)),
    });
    url = await host.listen();
  });
  afterAll(() => host.close());
  const assay = (argv: readonly string[], who: Who = "owner") =>
    evalCommand(argv, { ASSAY_URL: url, ASSAY_KEY: KEYS[who].key });

  test("moves from one host to another and back unchanged", async () => {
    const desk = new EvalDesk();
    const file = desk.file("suite.json", suite);
    isWrong = true;
    const direct = await assay(["run", file, "--agent", AGENT_ID, "--baseline", made.path]);
    expect(direct).toMatchObject({ code: 1, out: expect.stringMatching(/^Baseline +main \(imported\): regressed$/m) });
    expect((await assay(["baseline", "import", made.path], "viewer")).code).toBe(3);
    const imported = await assay(["baseline", "import", made.path, "--name", "theirs", "--json"]);
    expect(JSON.parse(imported.out)).toMatchObject({ name: "theirs", setBy: "ada", imported: { name: "main" } });
    const again = join(desk.folder, "again.json");
    expect((await assay(["baseline", "export", "theirs", "--out", again])).code).toBe(0);
    expect(read(again)).toBe(read(made.path));
  });
});

test("a warning names a new data folder that git would track", async () => {
  const desk = new EvalDesk();
  mkdirSync(join(desk.folder, ".git"));
  const run = () => desk.eval("run", desk.file("suite.json", lettersSuite("a")), ...desk.agents(lettersScript("a")));
  expect((await run()).err).toContain("assay: results are kept in data; add data/ to .gitignore.");
  expect(existsSync(join(desk.folder, "data"))).toBe(true);
  expect((await run()).err).not.toContain(".gitignore");
  for (const line of ["data/", "/data", "**/data/", "data/**"]) {
    const other = new EvalDesk();
    mkdirSync(join(other.folder, ".git"));
    expect(isSeenByGit(join(other.folder, "data"))).toBe(true);
    writeFileSync(join(other.folder, ".gitignore"), `node_modules\n${line}\n`);
    expect(isSeenByGit(join(other.folder, "data"))).toBe(false);
  }
});
