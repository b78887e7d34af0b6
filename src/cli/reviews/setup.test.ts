import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { opencodeAgentFile } from "../../reviews/opencode-agent.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { main } from "../main.ts";
import { COMMANDS } from "../program/commands.ts";

const FILE = ".opencode/agent/qualitative-reviewer.md";

async function setUp(dir: string, words: readonly string[] = [], io = recordedIo()) {
  const code = await main(["review", "setup", "opencode", "--dir", dir, ...words], { io });
  return { code, out: io.outLines, err: io.errLines.join("\n") };
}

function withFile(content: string): string {
  const dir = tempDir();
  mkdirSync(dirname(join(dir, FILE)), { recursive: true });
  writeFileSync(join(dir, FILE), content);
  return dir;
}

const read = (dir: string) => readFileSync(join(dir, FILE), "utf8");

describe("a project without the reviewer", () => {
  test("has it after the setup, and is told what to do next", async () => {
    const dir = tempDir();
    const { code, out, err } = await setUp(dir);
    expect([code, out]).toEqual([0, [join(dir, FILE)]]);
    expect(read(dir)).toBe(opencodeAgentFile());
    expect(err).toContain("npx assay review start FILE");
    expect(readdirSync(dirname(join(dir, FILE)))).toEqual(["qualitative-reviewer.md"]);
  });

  test("is described to programs", async () => {
    const dir = tempDir();
    const { out, err } = await setUp(dir, ["--json"]);
    expect(JSON.parse(out.join(""))).toEqual({
      tool: "opencode",
      agent: "qualitative-reviewer",
      file: join(dir, FILE),
      result: "written",
    });
    expect(err).toBe("");
  });
});

describe("a project with the same file", () => {
  test("stays as it is", async () => {
    const { code, out, err } = await setUp(withFile(opencodeAgentFile()));
    expect([code, out.length]).toEqual([0, 1]);
    expect(err).toContain("there already");
  });
});

describe("a project with a file of other content", () => {
  test("keeps it without a terminal", async () => {
    const dir = withFile("mine");
    const { code, err } = await setUp(dir);
    expect([code, read(dir)]).toEqual([2, "mine"]);
    expect(err).toContain("--force");
  });

  test.each([
    ["y", 0],
    ["Yes", 0],
    ["n", 2],
    ["", 2],
    [undefined, 2],
  ] as const)("is asked about, and takes %j", async (said, code) => {
    const dir = withFile("mine");
    const asked: string[] = [];
    const ask = async (question: string) => {
      asked.push(question);
      return said;
    };
    const io = recordedIo({ ask });
    expect((await setUp(dir, [], io)).code).toBe(code);
    expect(asked).toEqual([expect.stringContaining("Replace it?")]);
    expect(read(dir)).toBe(code === 0 ? opencodeAgentFile() : "mine");
  });

  test("loses it without a question when that is asked for", async () => {
    const dir = withFile("mine");
    expect((await setUp(dir, ["--force"])).code).toBe(0);
    expect(read(dir)).toBe(opencodeAgentFile());
  });
});

describe("a setup that makes no sense", () => {
  test("of an unknown tool names those that are known", async () => {
    const io = recordedIo();
    expect(await main(["review", "setup", "opencod"], { io })).toBe(2);
    expect(io.errLines.join("")).toContain("did you mean opencode?");
  });

  test("in a directory that is not there makes none", async () => {
    const dir = join(tempDir(), "typo");
    const { code, err } = await setUp(dir);
    expect([code, existsSync(dir)]).toEqual([2, false]);
    expect(err).toContain("there is no directory");
  });

  test("where the file cannot be is a complaint", async () => {
    const dir = tempDir();
    writeFileSync(join(dir, ".opencode"), "a file");
    const { code, err } = await setUp(dir);
    expect(code).not.toBe(0);
    expect(err).not.toContain("    at ");
    expect(err).toContain(".opencode");
  });
});

describe("instructions for an agent", () => {
  async function instructions(...words: string[]): Promise<string> {
    const io = recordedIo();
    expect(await main(["review", "instructions", ...words], { io })).toBe(0);
    return io.outText();
  }

  test("name only commands that there are", async () => {
    const named = [...(await instructions()).matchAll(/`npx assay ([a-z]+ [a-z]+)/g)].map((match) => match[1] ?? "");
    expect(new Set(named)).toEqual(new Set(["review start", "review decide", "review next", "review show"]));
    const known = COMMANDS.map(({ name }) => name);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });

  test("name the reviewer that is to be asked, as a shell takes it", async () => {
    expect(await instructions()).toContain("`npx assay review start FILE --json`");
    expect(await instructions("--command", "my reviewer", "--arg", "--quiet", "--arg", "it's")).toContain(
      String.raw`npx assay review start FILE --command 'my reviewer' --arg --quiet --arg 'it'\''s' --json`,
    );
  });

  test("are one value for programs", async () => {
    expect(JSON.parse(await instructions("--json"))).toEqual({ text: (await instructions()).trimEnd() });
  });
});
