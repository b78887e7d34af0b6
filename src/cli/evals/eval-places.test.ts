import { existsSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { AGENT_ID } from "../../testing/eval-bench.ts";
import { EvalDesk, lettersSuite, type Ran } from "../../testing/eval-command.ts";
import { type EvalServer, evalServer } from "../../testing/eval-server.ts";
import { KEYS } from "../../testing/host.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { main } from "../main.ts";

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

  test("stays local: every command looks where the evaluation was kept, and says so", async () => {
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

  test("names what is not there, and the folder or server that was asked", async () => {
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

test("an evaluation that is resumed keeps what of its reasoning is kept", async () => {
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
  test("takes evaluations while that server runs, in a file of their own", async () => {
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
