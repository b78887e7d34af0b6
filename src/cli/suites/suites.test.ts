import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadSuite } from "../../evals/suite/load-suite.ts";
import { KEYS, type TestHost, testHost } from "../../testing/host.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { evalSuite, goldenTask } from "../../testing/suite-builders.ts";
import { folderWith } from "../../testing/tape-command.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { main } from "../main.ts";
import type { Io } from "../output/io.ts";

async function assay(argv: readonly string[], env: Record<string, string> = {}, overrides: Partial<Io> = {}) {
  const io = recordedIo(overrides);
  const code = await main(["suite", ...argv], { io, env, cwd: tempDir() });
  return { code, out: io.outText(), err: io.errLines.join("\n") };
}

const text = (suite: object) => JSON.stringify(suite, null, 2);
const weak = { kind: "golden", match: { strategy: "contains", value: "" } } as const;

describe("assay suite validate", () => {
  test("prints id, tasks and digest of valid suites", async () => {
    const folder = folderWith({ "a.json": text(evalSuite()), "notes.txt": "x" });
    expect(await assay(["validate", folder])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^✓ .*a\.json: acme\.support\.evals\.refunds@1\.0\.0, 1 task, sha256 [0-9a-f]{12}\n$/),
    });
  });

  test("lists every problem of every file with its place and its correction, and exits 2", async () => {
    const broken = text(evalSuite()).replace('"hello"', '"hello",\n "x": ');
    const folder = folderWith({
      "a.json": text({ ...evalSuite(), version: "one", modes: [] }),
      "b.json": broken,
      "c.json": text(evalSuite()),
    });
    const { code, out } = await assay(["validate", folder, join(folder, "nowhere.json")]);
    expect(code).toBe(2);
    const lines = out.replaceAll(`${folder}/`, "").trim().split("\n");
    expect(lines).toEqual([
      "a.json:3:3: error: /version does not have the form of such a name.",
      '    Write three numbers with dots between them, like "1.0.0".',
      "a.json:4:3: error: /modes is empty.",
      expect.stringContaining("List at least one"),
      "✗ a.json: 2 problems",
      expect.stringMatching(/^b\.json:\d+:\d+: error: The suite is not JSON: no JSON value begins here\.$/),
      expect.stringContaining("JSON has no comments"),
      "✗ b.json: 1 problem",
      expect.stringMatching(/^✓ c\.json/),
      expect.stringMatching(/^✗ nowhere\.json cannot be read: ENOENT/),
    ]);
  });

  test("prints the same as JSON", async () => {
    const folder = folderWith({ "a.json": text({ ...evalSuite(), version: 1 }), "b.json": text(evalSuite()) });
    const { code, out } = await assay(["validate", "--json", folder]);
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      files: [
        {
          ok: false,
          errors: 1,
          problems: [{ code: "wrong_type", severity: "error", path: "/version", line: 3, column: 3 }],
        },
        {
          ok: true,
          errors: 0,
          problems: [],
          suite: { suiteId: "acme.support.evals.refunds", taskCount: 1, modes: ["golden"] },
        },
      ],
    });
  });

  test("accepts warnings unless --strict is given", async () => {
    const folder = folderWith({ "a.json": text(evalSuite({ tasks: [goldenTask("a", { expected: weak })] })) });
    const { code, out } = await assay(["validate", folder]);
    expect(code).toBe(0);
    expect(out).toMatch(/warning: \/tasks\/0\/expected\/match\/value is empty.*\n.*\n✓ .*1 warning\n$/);
    expect(await assay(["validate", "--strict", folder])).toMatchObject({ code: 2 });
  });

  test("refuses two suites with one name, and a folder without suites", async () => {
    const other = text(evalSuite({ tasks: [goldenTask("other")] }));
    const folder = folderWith({ "a.json": text(evalSuite()), "b.json": other, "c.json": text(evalSuite()) });
    const { code, out } = await assay(["validate", folder]);
    expect(code).toBe(2);
    expect(out).toMatch(
      /b\.json: error: The suite is acme\.support\.evals\.refunds@1\.0\.0, and so is .*a\.json, with other content\./,
    );
    expect(out).toMatch(/^✓ .*c\.json/m);
    expect(await assay(["validate", folderWith({ "readme.md": "" })])).toMatchObject({ code: 2 });
  });

  test("prints no secrets and no control characters of a suite", async () => {
    const secret = `${"AKIA"}IOSFODNN7EXAMPLZ`;
    const suite = { ...evalSuite(), "odd\u001b[31m\u202e": 1, tasks: [goldenTask("a", { input: secret })] };
    const { out } = await assay(["validate", folderWith({ "a.json": text(suite) })]);
    expect(out).toContain("2 problems");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
    expect(out).not.toMatch(/\u001b|\u202e/);
    expect(out).not.toContain(secret);
  });
});

describe("assay suite init", () => {
  test("writes a valid suite with the given id, in a new folder", async () => {
    const file = join(tempDir(), "suites", "first.json");
    const made = await assay(["init", file, "--id", "acme.shop.evals.orders"]);
    expect(made).toMatchObject({ code: 0, out: `${file}: acme.shop.evals.orders@0.1.0, 4 tasks\n` });
    expect(made.err).toContain(`eval run ${file} --command PROGRAM`);
    expect(loadSuite(readFileSync(file))).toMatchObject({ ok: true, problems: [] });
    expect(await assay(["validate", "--strict", file])).toMatchObject({ code: 0 });
  });

  test("replaces a file only with --force or when the question is answered with y", async () => {
    const file = join(tempDir(), "mine.json");
    writeFileSync(file, "mine");
    expect(await assay(["init", file])).toMatchObject({ code: 2, err: expect.stringContaining("was not replaced") });
    const asked: string[] = [];
    const answering = (answer: string | undefined) => ({
      ask: async (question: string) => {
        asked.push(question);
        return answer;
      },
    });
    for (const answer of ["n", "", undefined])
      expect((await assay(["init", file], {}, answering(answer))).code).toBe(2);
    expect(readFileSync(file, "utf8")).toBe("mine");
    expect((await assay(["init", file], {}, answering("y"))).code).toBe(0);
    expect(asked).toHaveLength(4);
    writeFileSync(file, "mine");
    expect((await assay(["init", file, "--force"])).code).toBe(0);
    expect(loadSuite(readFileSync(file)).ok).toBe(true);
  });

  test("refuses an invalid id, and a path that cannot be written", async () => {
    const file = join(tempDir(), "a.json");
    expect(await assay(["init", file, "--id", "Orders"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("--id must be"),
    });
    expect(() => readFileSync(file)).toThrow();
    writeFileSync(file, "no folder");
    expect(await assay(["init", join(file, "where.json")])).toMatchObject({ code: 2, out: "" });
    expect(readFileSync(file, "utf8")).toBe("no folder");
  });
});

describe("suites of a server on the command line", () => {
  let host: TestHost;
  let env: Record<string, string>;
  beforeAll(async () => {
    host = await testHost();
    env = { ASSAY_URL: await host.listen(), ASSAY_KEY: KEYS.owner.key };
  });
  afterAll(() => host.close());

  test("are kept, listed and shown", async () => {
    expect((await assay(["list"], env)).err).toContain("No suites yet");
    const folder = folderWith({ "a.json": text(evalSuite()), "b.json": `${text(evalSuite({ version: "1.1.0" }))}\n` });
    const pushed = await assay(["push", folder], env);
    expect(pushed.code).toBe(0);
    expect(pushed.out).toMatch(/refunds@1\.0\.0 +1 +[0-9a-f]{12} +kept\n.*refunds@1\.1\.0 +1 +[0-9a-f]{12} +kept\n$/);
    expect((await assay(["push", folder], env)).out).toMatch(/unchanged\n.*unchanged\n$/);
    const listed = JSON.parse((await assay(["list", "--json", "--suite", "acme.support.evals.refunds"], env)).out);
    expect(listed.suites).toMatchObject([{ version: "1.0.0" }, { version: "1.1.0" }]);
    expect((await assay(["list"], env)).out).toMatch(/refunds@1\.0\.0 +1 +golden +any +tenant/);
    expect((await assay(["show", "acme.support.evals.refunds"], env)).out).toBe(
      readFileSync(join(folder, "b.json"), "utf8"),
    );
    expect((await assay(["show", "acme.support.evals.refunds@9.0.0"], env)).code).toBe(2);
  });

  test("that are refused are printed with the reason, and the others are kept", async () => {
    const changed = text(evalSuite({ suiteId: "acme.evals.kept", tasks: [goldenTask("b")] }));
    const folder = folderWith({
      "a.json": text(evalSuite({ suiteId: "acme.evals.kept" })),
      "b.json": changed,
      "c.json": "{}",
    });
    const { code, out, err } = await assay(["push", folder, join(folder, "nowhere.json")], env);
    expect(code).toBe(2);
    expect(out).toMatch(/acme\.evals\.kept@1\.0\.0 .* kept\n$/);
    expect(err).toMatch(/b\.json: Suite acme\.evals\.kept@1\.0\.0 is here with other content/);
    expect(err).toMatch(/c\.json: the suite must have "suiteId", and 3 more\. For all problems: assay suite validate/);
    expect(err).toMatch(/nowhere\.json cannot be read/);
  });

  test("need the scope of the key, and a server", async () => {
    const file = folderWith({ "a.json": text(evalSuite({ suiteId: "acme.evals.mine" })) });
    expect((await assay(["push", file], { ...env, ASSAY_KEY: KEYS.viewer.key })).code).toBe(3);
    expect((await assay(["push", file], { ...env, ASSAY_URL: "http://127.0.0.1:1" })).code).toBe(4);
  });
});
