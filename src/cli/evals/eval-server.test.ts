import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { AGENT_ID, echo } from "../../testing/eval-bench.ts";
import { EvalDesk, evalCommand, lettersSuite } from "../../testing/eval-command.ts";
import { type EvalServer, evalServer } from "../../testing/eval-server.ts";
import { KEYS, type Who } from "../../testing/host.ts";

let host: EvalServer;
let url: string;
let wrong: readonly string[] = [];
beforeAll(async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  host = await evalServer(store, {
    behave: (task, watch) =>
      wrong.includes(task.taskId ?? "") ? { type: "completed", output: "?" } : echo(task, watch),
  });
  url = await host.listen();
});
afterAll(() => host.close());

const envOf = (who: Who) => ({ ASSAY_URL: url, ASSAY_KEY: KEYS[who].key });
const assay = (argv: readonly string[], who: Who = "owner") => evalCommand(argv, envOf(who));
const suite = () => new EvalDesk().file("suite.json", lettersSuite("abcdef", { modes: ["golden", "regression"] }));
const runIdIn = (text: string) => /run-[0-9a-z]+/.exec(text)?.[0] ?? "";

describe("assay eval with a server", () => {
  test("brings the suite, has it run there, and shows what came of it", async () => {
    wrong = ["f"];
    const file = suite();
    const desk = new EvalDesk();
    const json = desk.file("r.json", "");
    const ran = await assay(["run", file, "--agent", AGENT_ID, "--output", json]);
    expect(ran).toMatchObject({
      code: 0,
      out: expect.stringMatching(/✗ f +score 0\n[\s\S]*expected: f\n {4}output: +\?/),
    });
    expect(JSON.parse(readFileSync(json, "utf8"))).toMatchObject({ exitCode: 0, run: { taskCount: 6 } });
    expect((await assay(["show", runIdIn(ran.out)])).out).toBe(ran.out);
    const byName = await assay(["run", "local.test.evals.echo@1.0.0", "--agent", AGENT_ID]);
    expect(byName).toMatchObject({ code: 0, out: expect.stringContaining("5 of 6 tasks") });
    expect((await assay(["list"])).out.trim().split("\n")).toHaveLength(3);
  });

  test("sets baselines there and compares with them", async () => {
    wrong = [];
    const file = suite();
    const first = await assay(["run", file, "--agent", AGENT_ID]);
    const set = await assay(["baseline", "set", "main", runIdIn(first.out), "--json"]);
    expect(JSON.parse(set.out)).toMatchObject({ name: "main", setBy: "ada" });
    expect((await assay(["baseline", "list"])).out).toMatch(/main .* ada /);
    wrong = ["a", "b", "c", "d", "e", "f"];
    const second = await assay(["run", file, "--agent", AGENT_ID, "--baseline", "main"]);
    expect(second).toMatchObject({ code: 1, out: expect.stringContaining("worse than its baseline") });
    expect((await assay(["compare", runIdIn(second.out), "main"])).code).toBe(1);
    expect((await assay(["baseline", "remove", "local.test.evals.echo", "main"])).code).toBe(0);
  });

  test("a suite with other tasks under a name that is taken is refused there", async () => {
    const other = new EvalDesk().file("suite.json", lettersSuite("xyz"));
    const { code, err } = await assay(["run", other, "--agent", AGENT_ID]);
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("Raise its version") });
  });

  test("exits with 3 without the right, 4 without a server, 2 without the agent", async () => {
    const file = suite();
    const run = ["run", file, "--agent", AGENT_ID];
    expect((await assay(run, "viewer")).code).toBe(3);
    expect((await evalCommand(run, { ASSAY_URL: url })).code).toBe(3);
    expect((await evalCommand(run, { ASSAY_URL: "http://127.0.0.1:9", ASSAY_KEY: KEYS.owner.key })).code).toBe(4);
    const nobody = await assay(["run", file, "--agent", "local.test.nobody"]);
    expect(nobody).toMatchObject({ code: 2, err: expect.stringContaining("There is no agent local.test.nobody here") });
    const version = await assay(["run", file, "--agent", AGENT_ID, "--agent-version", "9.9.9"]);
    expect(version.err).toContain("There is no version 9.9.9 of the agent here");
    const ref = await assay(["run", "local.test.evals.eco@1.0.0", "--agent", AGENT_ID, "--task", "a"]);
    expect(ref).toMatchObject({ code: 2, err: expect.stringContaining("Did you mean local.test.evals.echo@1.0.0?") });
    const some = await assay(["run", "local.test.evals.echo@1.0.0", "--agent", AGENT_ID, "--task", "[ab]"]);
    expect(some).toMatchObject({ code: 2, err: expect.stringContaining("the suite has no task [ab]") });
  });

  test("runs a program here all the same, and says so", async () => {
    const desk = new EvalDesk();
    const program = desk.program("agent.mjs", `console.log("a")`);
    const file = desk.file("suite.json", lettersSuite("a"));
    const before = (await assay(["list", "--json"])).out;
    const { code, err } = await assay(["run", file, ...program]);
    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining("--command runs here") });
    expect((await assay(["list", "--json"])).out).toBe(before);
  });
});

describe("a suite by its URI on the command line", () => {
  test("is that of the server, by URL or path", async () => {
    wrong = [];
    await assay(["run", suite(), "--agent", AGENT_ID]);
    const path = "/v1/host/assay/suites/local.test.evals.echo@1.0.0";
    for (const named of [`${url}${path}`, path]) {
      const ran = await assay(["run", named, "--agent", AGENT_ID]);
      expect(ran).toMatchObject({ code: 0, out: expect.stringContaining("6 of 6 tasks") });
    }
  });

  test("elsewhere needs https and a digest", async () => {
    const digest = `#sha256=${"0".repeat(64)}`;
    const bare = await assay(["run", "https://127.0.0.1:9/suite.json", "--agent", AGENT_ID]);
    expect(bare).toMatchObject({ code: 2, err: expect.stringContaining("end the address with #sha256=") });
    const plain = await assay(["run", `http://127.0.0.1:9/suite.json${digest}`, "--agent", AGENT_ID]);
    expect(plain).toMatchObject({ code: 2, err: expect.stringContaining("https only") });
    const gone = await assay(["run", `https://127.0.0.1:9/suite.json${digest}`, "--agent", AGENT_ID]);
    expect(gone).toMatchObject({ code: 2, err: expect.stringContaining("the connection was refused") });
  });
});
