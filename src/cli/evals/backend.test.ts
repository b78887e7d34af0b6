import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EvalReport } from "../../protocol/evals/api.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { AGENT_ID, echo } from "../../testing/eval-bench.ts";
import { EvalDesk, evalCommand, lettersSuite, type Ran } from "../../testing/eval-command.ts";
import { type EvalServer, evalServer } from "../../testing/eval-server.ts";
import { KEYS, type Who } from "../../testing/host.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { main } from "../main.ts";

describe("the place of an evaluation", () => {
  let host: EvalServer;
  let url: string;
  beforeAll(async () => {
    host = await evalServer(await openSqliteStore({ path: ":memory:" }));
    url = await host.listen();
  });
  afterAll(() => host.close());

  const runIdIn = ({ out }: Ran) => /run-[0-9a-z]+/.exec(out)?.[0] ?? "";

  /** A folder as a person works in it, with or without the address of a server in the environment. */
  function workplace(env: Record<string, string> = {}) {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", lettersSuite("ab"));
    const assay = async (...argv: string[]): Promise<Ran> => {
      const io = recordedIo();
      const code = await main(argv, { io, env, cwd: desk.folder });
      return { code, out: io.outText(), err: io.errLines.join("\n") };
    };
    const program = desk.program(
      "agent.mjs",
      `import { readFileSync } from "node:fs"; console.log(JSON.parse(readFileSync(0, "utf8")))`,
    );
    const evaluate = (...more: string[]) => assay("eval", "run", suite, ...program, ...more);
    return { desk, suite, assay, evaluate, data: join(desk.folder, ".assay") };
  }

  describe("a local flow with the address of a server in the environment", () => {
    const env = () => ({ ASSAY_URL: url, ASSAY_KEY: KEYS.owner.key });

    test("stays local: every command looks where the evaluation was kept, and prints where", async () => {
      const { assay, evaluate, data } = workplace(env());
      const ran = await evaluate();
      expect(ran).toMatchObject({ code: 0, err: expect.stringContaining(`results are kept in ${data}`) });
      const runId = runIdIn(ran);
      for (const argv of [["show"], ["show", "latest"], ["show", runId], ["list"]]) {
        const shown = await assay("eval", ...argv);
        expect(shown).toMatchObject({ code: 0, out: expect.stringContaining(runId) });
        expect(shown.err).toContain(
          `assay: looking in ${data}, where the last evaluation was kept; --url ${url} looks there`,
        );
      }
      expect(await assay("eval", "baseline", "set", "main", "latest")).toMatchObject({
        code: 0,
        out: expect.stringContaining(runId),
      });
      expect((await assay("eval", "compare", "latest", "main")).code).toBe(0);
      expect((await assay("eval", "compare", runId, "latest")).code).toBe(0);
      expect((await evaluate("--baseline", "latest")).code).toBe(0);
    });

    test("is left with --url, and by an evaluation on the server", async () => {
      const { assay, evaluate, suite, data } = workplace(env());
      const here = runIdIn(await evaluate());
      const asked = await assay("eval", "list", "--url", url, "--key", KEYS.owner.key);
      expect(asked.out).not.toContain(here);
      expect(asked.err).toContain(`assay: looking at ${url}`);
      const ran = await assay("eval", "run", suite, "--agent", AGENT_ID);
      expect(ran).toMatchObject({ code: 0, err: expect.stringContaining(`evaluating at ${url}`) });
      const shown = await assay("eval", "show");
      expect(shown).toMatchObject({ err: `assay: looking at ${url}`, out: expect.stringContaining(runIdIn(ran)) });
      expect((await assay("eval", "show", "latest", "--data", data)).out).toContain(here);
    });

    test("`latest` is taken wherever an id is, also on a server", async () => {
      const { assay, suite } = workplace(env());
      const runId = runIdIn(await assay("eval", "run", suite, "--agent", AGENT_ID));
      expect((await assay("eval", "show", "latest")).out).toContain(runId);
      expect((await assay("eval", "override", "latest", "a", "pass")).code).toBe(0);
      expect((await assay("eval", "baseline", "set", "newest", "latest")).out).toContain(runId);
      expect((await assay("eval", "compare", "latest", "latest")).code).toBe(0);
      expect((await assay("eval", "run", suite, "--agent", AGENT_ID, "--baseline", "latest")).code).toBe(0);
      expect((await assay("suite", "links", "--run", "latest")).code).toBe(0);
      expect((await assay("suite", "add-from", "latest", "--check")).err).toContain("correction");
    });

    test("errors name what does not exist, and the folder or server that was asked", async () => {
      const { assay, evaluate, data } = workplace(env());
      await evaluate();
      expect((await assay("eval", "show", "run-nope")).err).toContain(
        `error: There is no evaluation run-nope in ${data}. \`assay eval list\` lists them.`,
      );
      expect((await assay("eval", "override", "latest", "z", "pass")).err).toContain("There is no scored task z in");
      expect((await assay("eval", "baseline", "export", "main")).err).toMatch(
        /There is no baseline main in .*\. See which there are with: assay eval baseline list$/,
      );
      expect((await assay("eval", "show", "run-nope", "--url", url)).err).toContain(
        "There is no evaluation run-nope here that this key can see. `assay eval list` lists them.",
      );
    });

    test("with --json prints the result alone", async () => {
      const { assay, evaluate } = workplace(env());
      await evaluate();
      expect(await assay("eval", "list", "--json")).toMatchObject({ code: 0, err: "" });
    });
  });

  test("--resume refuses another setting for the reasoning that is kept", async () => {
    const { evaluate } = workplace();
    const refused = await evaluate("--resume", "latest", "--reasoning", "off");
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("leave --reasoning out") });
  });

  /** Version 0.1 had evaluations in the file of a server. */
  function asInVersion01(data: string): void {
    for (const end of ["", "-wal", "-shm"]) {
      if (existsSync(join(data, `evals.db${end}`)))
        renameSync(join(data, `evals.db${end}`), join(data, `assay.db${end}`));
    }
  }

  describe("a folder with a database of a server", () => {
    test("keeps evaluations in a separate file while that server runs", async () => {
      const { assay, evaluate, data } = workplace();
      mkdirSync(data);
      const server = await openSqliteStore({ path: join(data, "assay.db") });
      try {
        const runId = runIdIn(await evaluate());
        expect((await assay("eval", "baseline", "set", "main", "--latest")).code).toBe(0);
        expect((await evaluate("--baseline", "main")).code).toBe(0);
        expect((await assay("eval", "show", runId)).out).toContain(runId);
        await server.close();
        expect((await assay("eval", "list")).out).toContain(runId);
      } finally {
        await server.close();
      }
    });

    test("of version 0.1, on which no server ever started, becomes the file of evaluations", async () => {
      const { assay, evaluate, data } = workplace();
      const runId = runIdIn(await evaluate());
      await assay("eval", "baseline", "set", "main", "--latest");
      asInVersion01(data);
      expect((await assay("eval", "show", runId)).out).toContain(runId);
      expect(existsSync(join(data, "assay.db"))).toBe(false);
      expect((await evaluate("--baseline", "main")).code).toBe(0);
    });

    test("of version 0.1 that a server uses is read, also while it runs, and not written", async () => {
      const { assay, evaluate, data } = workplace();
      const runId = runIdIn(await evaluate());
      await assay("eval", "baseline", "set", "main", "--latest");
      asInVersion01(data);
      const key = ["key", "create", "--principal", "vera", "--roles", "reviewer", "--data", data];
      expect((await assay(...key)).code).toBe(0);
      const server = await openSqliteStore({ path: join(data, "assay.db") });
      try {
        expect((await assay("eval", "show")).out).toContain(runId);
        expect((await assay("eval", "list")).out).toContain(runId);
        expect(await assay("eval", "show", runId, "a")).toMatchObject({
          code: 0,
          out: expect.stringContaining("Trial 1"),
        });
        expect((await assay("eval", "baseline", "list")).out).toContain("main");
        const compared = await evaluate("--baseline", "main");
        expect(compared).toMatchObject({ code: 0, out: expect.stringContaining("main (imported)") });
        expect((await assay("eval", "compare", "latest", runId)).code).toBe(0);
        const refused = await assay("eval", "override", runId, "a", "fail");
        expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("the database of a server") });
      } finally {
        await server.close();
      }
    });
  });
});

describe("a server", () => {
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
    test("sends the suite, evaluates there, and prints the result", async () => {
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

    test("refuses a suite with other tasks under an existing version", async () => {
      const other = new EvalDesk().file("suite.json", lettersSuite("xyz"));
      const { code, err } = await assay(["run", other, "--agent", AGENT_ID]);
      expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("Raise its version") });
    });

    test("exits with 3 without the scope, 4 without a server, 2 without the agent", async () => {
      const file = suite();
      const run = ["run", file, "--agent", AGENT_ID];
      expect((await assay(run, "viewer")).code).toBe(3);
      expect((await evalCommand(run, { ASSAY_URL: url })).code).toBe(3);
      expect((await evalCommand(run, { ASSAY_URL: "http://127.0.0.1:9", ASSAY_KEY: KEYS.owner.key })).code).toBe(4);
      const nobody = await assay(["run", file, "--agent", "local.test.nobody"]);
      expect(nobody).toMatchObject({
        code: 2,
        err: expect.stringContaining("There is no agent local.test.nobody here"),
      });
      const version = await assay(["run", file, "--agent", AGENT_ID, "--agent-version", "9.9.9"]);
      expect(version.err).toContain("There is no version 9.9.9 of the agent here");
      const ref = await assay(["run", "local.test.evals.eco@1.0.0", "--agent", AGENT_ID, "--task", "a"]);
      expect(ref).toMatchObject({ code: 2, err: expect.stringContaining("Did you mean local.test.evals.echo@1.0.0?") });
      const some = await assay(["run", "local.test.evals.echo@1.0.0", "--agent", AGENT_ID, "--task", "[ab]"]);
      expect(some).toMatchObject({ code: 2, err: expect.stringContaining("the suite has no task [ab]") });
    });

    test("runs a program here, and prints that", async () => {
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
});

/** A report as version 0.1.0 gave it: one pass for all modes, and no word on why something was not run. */
function earlier({ modeFigures: _, notRun: __, warnings: ___, ...report }: EvalReport): object {
  const { comparison } = report.baseline ?? {};
  const { unpairedModes: ____, ...compared } = comparison ?? {};
  return {
    ...report,
    tasks: report.tasks.map(({ passes: _, bodies: __, fixturesUnused: ___, ...task }) => task),
    ...(comparison ? { baseline: { ...report.baseline, comparison: compared } } : {}),
  };
}

/** A server in front of another one that makes older reports of its reports. */
function inFrontOf(url: string): Server {
  return createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { method = "GET", url: path = "" } = request;
    const { authorization = "", "content-type": type = "application/json" } = request.headers;
    const body = pieces.length === 0 ? {} : { body: Buffer.concat(pieces) };
    const headers = { authorization, "content-type": type };
    const answer = await fetch(`${url}${path}`, { method, headers, ...body });
    const text = await answer.text();
    const isReport = answer.ok && /\/report(\?|$)/.test(path);
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
    response.end(isReport ? JSON.stringify(earlier(JSON.parse(text) as EvalReport)) : text);
  });
}

describe("assay eval with a server of an earlier version", () => {
  let host: EvalServer;
  let front: Server;
  let url: string;
  beforeAll(async () => {
    host = await evalServer(await openSqliteStore({ path: ":memory:" }), {
      behave: (task, watch) => (task.taskId === "f" ? { type: "completed", output: "?" } : echo(task, watch)),
    });
    front = inFrontOf(await host.listen());
    await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    front.closeAllConnections();
    await new Promise((resolve) => front.close(resolve));
    await host.close();
  });
  const assay = (...argv: string[]) => evalCommand(argv, { ASSAY_URL: url, ASSAY_KEY: KEYS.owner.key });
  const runIdIn = (text: string) => /run-[0-9a-z]+/.exec(text)?.[0] ?? "";

  test("shows, writes and compares reports without the members of later versions", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", lettersSuite("abcdef", { modes: ["golden", "adversarial"] }));
    const first = await assay("run", suite, "--agent", AGENT_ID);
    expect(first).toMatchObject({ code: 0, out: expect.stringContaining("5 of 6 tasks passed") });
    expect(first.out).toMatch(/Modes +golden, adversarial\n/);
    const runId = runIdIn(first.out);
    const files = ["json", "xml", "md", "sarif"].map((name) => join(desk.folder, `out.${name}`));
    const [json = "", junit = "", md = "", sarif = ""] = files;
    const written = ["--output", json, "--junit", junit, "--md", md, "--sarif", sarif];
    const second = await assay("run", suite, "--agent", AGENT_ID, "--baseline", runId, "--task", "a,b,c", ...written);
    expect(second).toMatchObject({ code: 0, out: expect.stringContaining("3 of 6 tasks of the suite were not run.") });
    for (const file of files) expect(readFileSync(file, "utf8")).toMatch(/passed/i);
    expect(await assay("show", runId, "--json")).toMatchObject({ code: 0, err: expect.any(String) });
    expect(await assay("compare", runIdIn(second.out), runId)).toMatchObject({ code: 0 });
  });
});
