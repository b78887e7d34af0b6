import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { EvalResultFile } from "../../formats/evals/eval-json.ts";
import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import { matches } from "../../protocol/schema.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { ADA, begin, engineOn, register } from "../../testing/engine.ts";
import { goldenTask, suiteOf } from "../../testing/eval-bench.ts";
import { EvalDesk, evalCommand, lettersScript, lettersSuite, SCRIPTED } from "../../testing/eval-command.ts";
import { CALLING } from "../../testing/gateway-agent.ts";
import { workflow } from "../../testing/workflow.ts";
import { allNamed, readXml } from "../../testing/xml.ts";

const read = (path: string) => readFileSync(path, "utf8");
const runIdIn = (text: string) => /run-[0-9a-z]+/.exec(text)?.[0] ?? "";

describe("assay eval run without a server", () => {
  test("evaluates a program: stdin is the input, stdout the output, and the difference is shown", async () => {
    const desk = new EvalDesk();
    const program = desk.program(
      "agent.mjs",
      `let text = ""; for await (const piece of process.stdin) text += piece;
       const input = JSON.parse(text);
       if (input === "crash") { console.error("complaint"); process.exit(3); }
       console.log(input === "wrong" ? "14 days" : "30 days " + process.env.ASSAY_TASK_ID + process.env.ASSAY_TRIAL);`,
    );
    const suite = desk.file(
      "suite.json",
      suiteOf([
        goldenTask("right", "x", "30 days right1"),
        goldenTask("wrong", "wrong", "30 days"),
        goldenTask("crash", "crash", "30 days"),
      ]),
    );
    const { code, out } = await desk.eval("run", suite, ...program);
    expect(code).toBe(1);
    expect(out).toContain("local.command.agent-mjs");
    expect(out).toMatch(/✗ wrong +score 0\n {4}The output is another text\.\n {4}expected: .*30.*\n {4}output: .*14/);
    expect(out).toMatch(/! crash +no trial could be scored: agent_crashed\n.*exit code 3: complaint/);
    expect(out).toMatch(/✗ Failed: 1 of 3 tasks passed, score 0\.333 with 1 error counted as 0; the score is below/);
  });

  test("passes with 0 when the suite's bar is met", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", lettersSuite("abcdefghij"));
    const { code, out } = await desk.eval("run", suite, ...desk.agents(lettersScript("abcdefghij", "j")));
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("✓ Passed: 9 of 10 tasks passed") });
  });

  test("keeps its result, and eval show prints it again", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", lettersSuite("ab"));
    const first = await desk.eval("run", suite, ...desk.agents(lettersScript("ab", "b")));
    const shown = await desk.eval("show");
    expect(shown).toMatchObject({ code: 0, out: first.out });
    expect(await desk.eval("show", runIdIn(first.out))).toEqual(shown);
    const told = JSON.parse((await desk.eval("show", "--json")).out);
    expect(matches(EvalResultFile, told)).toBe(true);
    expect(JSON.stringify(told)).not.toContain("content");
    expect((await desk.eval("list")).out).toContain("1/2");
    expect((await desk.eval("show", "run-none")).code).toBe(2);
  });

  test("tries each task --trials times, and marks flaky tasks", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", lettersSuite("ab"));
    const agent = desk.agents({ a: { output: "a" }, b: [{ output: "b" }, { output: "?" }] });
    const { code, out } = await desk.eval("run", suite, ...agent, "--trials", "4");
    expect(code).toBe(1);
    expect(out).toMatch(/✗ b +2 of 4 scored trials passed; score 0\.5 +flaky/);
    expect(out).toMatch(/pass@4 +1/);
    expect(out).toMatch(/pass\^4 +0\.5/);
    const some = desk.agents({ a: { output: "a" }, b: [{ output: "b" }, { error: { code: "agent_timeout" } }] });
    expect((await desk.eval("run", suite, ...some, "--trials", "2")).out).toMatch(/pass@2 +1 \(.*\), of 1 task$/m);
  });

  test("runs only the tasks and modes that are named, and never passes with none", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", lettersSuite("abc", { modes: ["golden", "adversarial"] }));
    const agent = desk.agents(lettersScript("abc", "c"));
    const some = await desk.eval("run", suite, ...agent, "--task", "a", "--task", "b", "--mode", "golden");
    expect(some).toMatchObject({ code: 0, out: expect.stringContaining("2 of 2 tasks") });
    expect(some.out).toContain("! 1 of 3 tasks of the suite was not run: other tasks were chosen.");
    expect(some.out).toContain("! Mode adversarial was not run: it was not asked for.");
    for (const nothing of [
      ["--task", "zzz"],
      ["--task", "z*"],
      ["--task", ","],
      ["--mode", "rubric"],
      ["--mode", "sideways"],
    ]) {
      expect((await desk.eval("run", suite, ...agent, ...nothing)).code).toBe(2);
    }
  });

  test("states the number of scored tasks of each rate when there were errors", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", lettersSuite("abc"));
    const agent = desk.agents({ a: { output: "a" }, b: { output: "?" }, c: { error: { code: "agent_timeout" } } });
    const { out } = await desk.eval("run", suite, ...agent);
    expect(out).toMatch(/^Passed +1 of 3 tasks, of the 2 that could be scored 0\.5 /m);
    expect(out).toMatch(/^Score +0\.333 with errors as 0, of the 2 that could be scored 0\.5 /m);
  });

  test("tries errors again with --retry-errors", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", lettersSuite("a"));
    const script = { sequence: [{ error: { code: "agent_timeout" } }, { output: "a" }] };
    const agents = { bindings: { [SCRIPTED]: { type: "scripted", script } } };
    const flags = ["--agent", SCRIPTED, "--agents", desk.file("agents.json", agents)];
    expect((await desk.eval("run", suite, ...flags)).code).toBe(1);
    expect((await desk.eval("run", suite, ...flags, "--retry-errors", "1")).code).toBe(0);
  });

  test("exits with 4 when nothing could be reached, and with 5 when the budget was spent", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", lettersSuite("ab"));
    const missing = await desk.eval("run", suite, "--command", join(desk.folder, "no-such-program"));
    expect(missing).toMatchObject({ code: 4, out: expect.stringContaining("Unreachable: all 2 tasks") });
    const usage = { inputTokens: 1, outputTokens: 1, costUsd: 1 };
    const agent = desk.agents({ a: { output: "a", usage }, b: { output: "b", usage } });
    const [junit, json] = [join(desk.folder, "junit.xml"), join(desk.folder, "r.json")];
    const limits = ["--budget-usd", "0.5", "--concurrency", "1"];
    const spent = await desk.eval("run", suite, ...agent, ...limits, "--junit", junit, "--output", json);
    expect(spent).toMatchObject({
      code: 5,
      out: expect.stringMatching(/No verdict: the budget stopped it\. .* after 1 of 2 tasks/),
    });
    expect(allNamed(readXml(read(junit)), "error")).toHaveLength(1);
    expect(JSON.parse(read(json))).toMatchObject({ complete: false, report: { tasks: [{ taskId: "a" }] } });
    expect(spent.out).toMatch(/^Partial +1 of 2 tasks done$/m);

    const runId = runIdIn(spent.out);
    expect(await desk.eval("show", runId)).toMatchObject({ code: 0, out: spent.out });
    const refused = async (...argv: string[]) => {
      const { code, err } = await desk.eval(...argv);
      expect(code).toBe(2);
      return err;
    };
    expect(await refused("compare", runId, runId)).toContain("did not complete");
    expect(await refused("run", suite, ...agent, "--baseline", runId)).toContain("has not completed; it is failed");
    expect(await refused("run", suite, ...agent, "--failed-in", runId)).toContain("did not complete");
    expect(await refused("baseline set", "main", runId)).toContain("only an evaluation that has completed");
  });

  test("refuses an unusable call with exit code 2 before the agent is called", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", lettersSuite("a"));
    const agent = desk.agents(lettersScript("a"));
    const bad = desk.file("bad.json", { ...lettersSuite("a"), version: "one", modes: [] });
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [[suite], /say what to evaluate/],
      [[suite, "--command", "x", "--http", "http://x"], /use one of/],
      [[suite, ...agent, "--arg", "x"], /--arg goes with --command/],
      [[suite, ...agent, "--timeout", "1"], /--timeout goes with/],
      [[suite, "--command", "x", "--cache"], /--cache needs --agent-version/],
      [[suite, ...agent, "--require-verdict"], /needs --baseline/],
      [[suite, ...agent, "--baseline", "main"], /There is no baseline main here.*assay eval baseline set/],
      [[suite, ...agent, "--fail-on", "rain"], /--fail-on takes suspect/],
      [[suite, ...agent, "--budget-usd", "-1"], /must be an amount/],
      [[suite, ...agent, "--trials", "0"], /at least 1/],
      [[suite, ...agent, "--junit", desk.folder], /is a folder/],
      [[suite, ...agent, "--junit", "x.xml", "--md", "./x.xml"], /named for two files/],
      [[suite, "--http", "ftp://x"], /http or https URL/],
      [[suite, "--http", "http://user:word@x"], /--http looks like a secret/],
      [[suite, "--command", "x", "--arg", `--key=sk-${"a1B2".repeat(12)}`], /--arg looks like a secret/],
      [[suite, "--command", ""], /not empty/],
      [[suite, "--agent", "local.test.nobody"], /There is no agent local\.test\.nobody here/],
      [[bad, ...agent], /\/version does not have the form[\s\S]*\/modes is empty/],
      [[join(desk.folder, "none.json"), ...agent], /no such file/],
      [[desk.folder, ...agent], /a folder/],
      [["acme.evals.none@1.0.0", ...agent], /There is no suite acme\.evals\.none@1\.0\.0 here/],
      [[suite, ...agent, "--url", "http://127.0.0.1:9"], /not both/],
    ];
    for (const [argv, says] of cases) {
      const { code, err } = await desk.eval("run", ...argv);
      expect({ argv, code, err }).toMatchObject({ code: 2, err: expect.stringMatching(says) });
    }
    const remote = await evalCommand(["run", suite, "--command", "x", "--url", "http://127.0.0.1:9"]);
    expect(remote).toMatchObject({ code: 2, err: expect.stringContaining("runs here and not on a server") });
  });

  test("replaces a suite with other tasks under its version, and does not compare the two", async () => {
    const desk = new EvalDesk();
    const agent = desk.agents(lettersScript("abcdef"));
    const suite = desk.file("suite.json", lettersSuite("abcdef", { modes: ["golden", "regression"] }));
    const first = await desk.eval("run", suite, ...agent);
    expect((await desk.eval("baseline set", "main", "--latest")).code).toBe(0);
    desk.file("suite.json", lettersSuite("abcde", { modes: ["golden", "regression"], thresholds: { passScore: 1 } }));
    const second = await desk.eval("run", suite, ...agent);
    expect(second).toMatchObject({ code: 0, err: expect.stringContaining("other tasks than before") });
    const against = await desk.eval("run", suite, ...agent, "--baseline", "main");
    expect(against).toMatchObject({ code: 2, err: expect.stringContaining("other tasks under the name") });
    const [one, other] = [runIdIn(first.out), runIdIn(second.out)];
    expect(await desk.eval("compare", other, one)).toMatchObject({
      code: 2,
      err: expect.stringContaining("other tasks"),
    });
    expect((await desk.eval("show", one)).out).toBe(first.out);
  });

  test("names the process that owns the database", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", lettersSuite("a"));
    const agent = desk.agents(lettersScript("a"));
    await desk.eval("run", suite, ...agent);
    const store = await openSqliteStore({ path: join(desk.folder, "data", "evals.db") });
    try {
      const { code, err } = await desk.eval("run", suite, ...agent);
      expect({ code, err }).toMatchObject({
        code: 2,
        err: expect.stringMatching(/in use by process .*another evaluation.*another folder with --data DIR/),
      });
    } finally {
      await store.close();
    }
  });

  test("does not execute other runs of the database", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", lettersSuite("a"));
    const agent = desk.agents(lettersScript("a"));
    await desk.eval("run", suite, ...agent);
    const path = join(desk.folder, "data", "evals.db");
    const store = await openSqliteStore({ path });
    const host = engineOn(store);
    await register(host, workflow({ id: "noop", nodes: { a: "core.noop" } }));
    const runId = await begin(host, { workflowId: "noop" });
    await store.close();
    expect((await desk.eval("run", suite, ...agent)).code).toBe(0);
    const again = await openSqliteStore({ path });
    expect(await again.readRun(ADA, runId)).toMatchObject({ status: "pending" });
    await again.close();
  });

  test("creates no database for commands that read", async () => {
    const data = join(new EvalDesk().folder, "nowhere");
    expect(await evalCommand(["show", "--data", data])).toMatchObject({
      code: 2,
      err: expect.stringContaining("no database"),
    });
    expect(existsSync(data)).toBe(false);
  });
});

describe("the files of an evaluation", () => {
  const secret = "text that must not be in a report";
  const suiteWith = (desk: EvalDesk) =>
    desk.file(
      "suite.json",
      suiteOf([goldenTask("t", `asked: ${secret}`, `expected: ${secret}`), goldenTask("u", "u")]),
    );

  test("hold figures and no text, except for the Markdown", async () => {
    const desk = new EvalDesk();
    const program = desk.program(
      "agent.mjs",
      `console.error(${JSON.stringify(secret)}); if (process.env.ASSAY_TASK_ID === "u") process.exit(1);
       console.log("answered: " + ${JSON.stringify(secret)});`,
    );
    const at = (name: string) => join(desk.folder, "reports", name);
    const files = ["--output", at("r.json"), "--junit", at("r.xml"), "--sarif", at("r.sarif"), "--md", at("r.md")];
    const { code, out } = await desk.eval("run", suiteWith(desk), ...program, ...files);
    expect(code).toBe(1);
    expect(out).toContain(secret);
    for (const name of ["r.json", "r.xml", "r.sarif"]) expect(read(at(name)), name).not.toContain(secret);
    expect(read(at("r.md"))).toContain(secret);
    const file = JSON.parse(read(at("r.json")));
    expect(matches(EvalResultFile, file)).toBe(true);
    expect(file).toMatchObject({
      exitCode: 1,
      verdict: "failed",
      report: { tasks: [{}, { errors: [{ code: "agent_crashed" }] }] },
    });
    const { results } = JSON.parse(read(at("r.sarif"))).runs[0];
    expect(results[0].locations[0].physicalLocation.region.startLine).toBeGreaterThan(1);

    await desk.eval("run", suiteWith(desk), ...program, ...files, "--with-content");
    for (const name of ["r.json", "r.xml", "r.sarif"]) expect(read(at(name)), name).toContain(secret);
  });

  test("a file that cannot be written is an error, and no part of it remains", async () => {
    const desk = new EvalDesk();
    const blocked = join(desk.file("file", "x"), "r.json");
    const { code, err } = await desk.eval("run", suiteWith(desk), ...desk.agents({}), "--output", blocked);
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("cannot be written") });
  });

  test("--json is a switch: it prints what --output writes, and nothing else", async () => {
    const desk = new EvalDesk();
    const suite = suiteWith(desk);
    const file = join(desk.folder, "r.json");
    const printed = await desk.eval("run", "--json", suite, ...desk.agents({}), "--output", file);
    expect(printed.out).toBe(read(file));
    expect(JSON.parse(printed.out)).toMatchObject({ format: "assay-eval", exitCode: printed.code });
    expect(printed.err).not.toContain("--output");
    const refused = await desk.eval("run", "nowhere.json", ...desk.agents({}), "--json");
    expect(refused).toMatchObject({ code: 2, out: "" });
    expect(JSON.parse(refused.err)).toMatchObject({ error: "unusable_input", details: {} });
  });

  test("--json FILE works for one more version, with a warning", async () => {
    const desk = new EvalDesk();
    const suite = suiteWith(desk);
    const at = (name: string) => join(desk.folder, name);
    const forms = [
      ["after.json", suite, "--json", at("after.json")],
      ["before.json", "--json", at("before.json"), suite],
      ["equals.json", suite, `--json=${at("equals.json")}`],
    ] as const;
    for (const [name, ...argv] of forms) {
      const { out, err } = await desk.eval("run", ...argv, ...desk.agents({}));
      expect(err).toContain("write the file with --output FILE");
      expect(out).toMatch(/(Passed|Failed):/);
      expect(JSON.parse(read(at(name)))).toMatchObject({ format: "assay-eval" });
    }
  });
});

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});

const FIXTURES = { toolResponses: [{ tool: "crm:find", response: { plan: "Pro" } }] };

/** A task that calls the tool and one that does not; both have a fixture for it and pass. */
function planSuite(changes: Partial<AgentEvalSuite> = {}): AgentEvalSuite {
  const task = (taskId: string, input: unknown[], value: unknown[]) => ({
    taskId,
    input,
    expected: { kind: "golden" as const, match: { strategy: "json-match" as const, value } },
    fixtures: FIXTURES,
  });
  return suiteOf([task("asks", [{ tool: "crm:find" }], [{ plan: "Pro" }]), task("guesses", [], [])], changes);
}

/** Answers each call as the tool gateway does that it was posted. */
async function endpoint(): Promise<number> {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    const { input, tools } = JSON.parse(text);
    const output: unknown[] = [];
    for (const call of input) {
      const headers = { authorization: `Bearer ${tools.token}` };
      const answer = await fetch(`${tools.url}/call`, { method: "POST", headers, body: JSON.stringify(call) });
      output.push(((await answer.json()) as { result?: unknown }).result ?? null);
    }
    response.end(JSON.stringify({ output }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  return (server.address() as AddressInfo).port;
}

describe("assay eval run with fixtures", () => {
  test("gives a program the answers of its task, and lists unused fixtures in every output", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", planSuite());
    const [junit, md, json] = ["junit.xml", "summary.md", "evals.json"].map((name) => join(desk.folder, name));
    const files = ["--junit", junit ?? "", "--md", md ?? "", "--json", json ?? ""];
    const { code, out } = await desk.eval("run", suite, ...desk.program("agent.mjs", CALLING), ...files);
    const warning = "Fixtures of 1 task were never used: guesses (crm:find).";
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining(`! ${warning}`) });
    expect(out).toContain("2 of 2 tasks passed");
    expect((await desk.eval("show")).out).toContain(warning);
    const cases = allNamed(readXml(read(junit ?? "")), "testcase");
    expect(cases.map((one) => JSON.stringify(one).includes("fixtures never used: crm:find"))).toEqual([false, true]);
    expect(read(junit ?? "")).toContain('<property name="fixturesUnused" value="crm:find"/>');
    expect(read(md ?? "")).toContain("Fixtures of 1 task were never used");
    const { report, warnings } = JSON.parse(read(json ?? ""));
    expect(report.tasks).toMatchObject([{ fixturesUnused: [] }, { fixturesUnused: ["crm:find"] }]);
    expect(warnings).toContain(warning);
  });

  test("gives an endpoint of this machine the same", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", planSuite());
    const { code, out } = await desk.eval("run", suite, "--http", `http://127.0.0.1:${await endpoint()}`);
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("guesses (crm:find)") });
  });

  test("refuses an endpoint that cannot reach the tools before it is called, and names the setting", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", planSuite({ modes: ["golden", "live-shadow"] }));
    const http = ["--http", "http://agents.example.invalid/refunds", "--timeout", "1"];
    const { code, out, err } = await desk.eval("run", suite, ...http, "--mode", "golden");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/task asks has fixtures for tools.*cannot be offered them: .*set --tools-url/);
    expect((await desk.eval("list")).out).not.toContain("run-");
    // With an address for it the evaluation begins; live tools need no fixtures.
    const given = await desk.eval("run", suite, ...http, "--mode", "golden", "--tools-url", "https://assay.example");
    expect(given.err).not.toContain("--tools-url");
    expect(given.code).not.toBe(2);
    expect((await desk.eval("run", suite, ...http, "--mode", "live-shadow")).err).not.toContain("--tools-url");
  }, 60_000);

  test("refuses an invalid address of the gateway", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", planSuite());
    const { code, err } = await desk.eval("run", suite, "--command", "true", "--tools-url", "assay.example");
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("--tools-url must be an http") });
  });
});
