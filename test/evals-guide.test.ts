import { execFile, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EVAL_RUN_FLAGS } from "../src/cli/evals/commands.ts";
import { main } from "../src/cli/main.ts";
import { COMMANDS } from "../src/cli/program/commands.ts";
import { codeBlocks, section, steps } from "../src/testing/guide.ts";
import { ModelServer } from "../src/testing/model-server.ts";
import { chatStream } from "../src/testing/model-streams.ts";
import { recordedIo } from "../src/testing/recorded-io.ts";
import { tempDir } from "../src/testing/temp-dir.ts";
import { type ShellPrograms, shellPrograms } from "./cli/shell-programs.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(join(root, "docs/evals.md"), "utf8");
const example = (name: string) => readFileSync(join(root, "examples/evals", name), "utf8");

afterAll(() => process.chdir(root));

/** Ids, times and what the machine takes are those of the moment. */
function withoutNow(text: string): string {
  return text.replaceAll(/run-[0-9a-z]{20,}/g, "run-…").replaceAll(/\d+ ms/g, "… ms");
}

function ownCopy(name = "my-evals"): string {
  const folder = join(tempDir(), name);
  cpSync(join(root, "examples/evals"), folder, { recursive: true });
  return folder;
}

/** Twelve of the twenty tasks, of which the worse agent loses six, are enough for a verdict. */
function keepTasks(file: string, names: RegExp): void {
  const suite = JSON.parse(readFileSync(file, "utf8"));
  const tasks = suite.tasks.filter(({ taskId }: { taskId: string }) => names.test(taskId));
  writeFileSync(file, JSON.stringify({ ...suite, tasks }));
}

/** As a shell splits the plain commands of the page. */
function wordsOf(command: string): string[] {
  return (command.replaceAll("\\\n", " ").match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'(.*)'$/, "$1"));
}

async function assay(words: readonly string[], cwd: string) {
  const io = recordedIo();
  const exit = await main([...words], { io, env: {}, cwd });
  return { exit, out: io.outText(), err: io.errLines.join("\n") };
}

describe("the guide to evaluations", () => {
  test("shows what comes of its commands, in their order", async () => {
    const folder = ownCopy();
    const guide = section(page, "## From nothing to a CI gate");
    let last = 0;
    for (const { command, shown } of steps(guide)) {
      if (command.startsWith("cp -r examples/evals my-evals")) process.chdir(folder);
      else if (command === "echo $?") expect(`${last}\n`).toBe(shown);
      else {
        const { exit, out } = await assay(wordsOf(command).slice(2), folder);
        last = exit;
        expect(withoutNow(out), command).toBe(withoutNow(shown));
      }
    }
  });

  test("names every command and every flag of an evaluation", () => {
    for (const { name } of COMMANDS.filter((spec) =>
      /^eval (run|show|list|compare|baseline (set|list|export|import))$/.test(spec.name),
    )) {
      expect(page).toContain(`assay ${name}`);
    }
    for (const flag of Object.keys(EVAL_RUN_FLAGS)) {
      expect(page).toContain(`--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
    }
  });

  test.each(["evals.yml", "agent.py", "tools-agent.mjs"])("shows %s as it is in the examples", (name) => {
    const [, shown] = new RegExp(`<!-- ${name} -->\n\`\`\`\\w+\n(.*?)\`\`\`\n<!-- /${name} -->`, "s").exec(page) ?? [];
    expect(shown).toBe(example(name));
  });
});

describe("the gate for any CI", () => {
  let programs: ShellPrograms;
  beforeAll(async () => {
    programs = await shellPrograms();
  });
  afterAll(() => programs.close());

  test("passes main, refuses a change without a baseline, and fails one that is worse", async () => {
    const folder = tempDir();
    cpSync(join(root, "examples/evals"), join(folder, "evals"), { recursive: true });
    keepTasks(join(folder, "evals/suite.json"), /^(lamp|kettle|chair)-/);
    const env = { PATH: `${programs.folder}${delimiter}${process.env["PATH"]}`, COMMIT: "0a1b2c3" };
    const run = (program: string, args: readonly string[]) =>
      new Promise<{ status: number; stderr: string }>((resolve) => {
        const child = execFile(program, args, { cwd: folder, env }, (_, __, stderr) =>
          resolve({ status: child.exitCode ?? -1, stderr }),
        );
      });
    const ci = (...args: string[]) => run("sh", ["evals/ci.sh", ...args]);
    expect(await ci()).toMatchObject({ status: 2, stderr: expect.stringContaining("usage") });
    expect(await ci("change")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("There is no baseline main here"),
    });
    expect(await ci("main")).toMatchObject({ status: 0 });
    cpSync(join(folder, "evals/agent-v2.mjs"), join(folder, "evals/agent.mjs"));
    expect(await ci("change")).toMatchObject({ status: 1 });
    const write = ["assay", "eval", "baseline", "export", "main", "--out", "evals/baseline.json"];
    expect(await run("npx", write)).toMatchObject({ status: 0 });
    rmSync(join(folder, ".assay"), { recursive: true });
    expect(await ci("change")).toMatchObject({ status: 1 });
    expect(readdirSync(join(folder, "results")).sort()).toEqual([
      "evals.json",
      "evals.sarif",
      "junit.xml",
      "summary.md",
    ]);
    expect(readFileSync(join(folder, "results/evals.sarif"), "utf8")).toContain('"uri": "evals/suite.json"');
    expect(existsSync(join(folder, ".assay"))).toBe(true);
  });

  test("is what the workflow for GitHub runs, with what it keeps and shows", () => {
    const workflow = example("evals.yml");
    expect(workflow).toContain('run: sh evals/ci.sh "$AGAINST"');
    expect(workflow).toContain("'change' || 'main'");
    for (const name of ["summary.md", "evals.sarif"]) {
      expect(workflow).toContain(`results/${name}`);
      expect(example("ci.sh")).toContain(`results/${name}`);
    }
    expect(workflow.match(/path: \.assay/g)).toHaveLength(2);
    const flags = (text: string) => new Set(text.match(/--[a-z-]+/g));
    const [shown = ""] = codeBlocks(section(page, "### In any CI"), "sh");
    for (const flag of flags(shown)) expect(flags(example("ci.sh"))).toContain(flag);
  });
});

describe("the recipes", () => {
  const hasPython = spawnSync("python3", ["--version"]).status === 0;

  test.skipIf(!hasPython)("evaluate a program in Python (where there is one)", async () => {
    const folder = ownCopy();
    process.chdir(folder);
    const [step] = steps(section(page, "### A program in another language"));
    const { out } = await assay(wordsOf(step?.command ?? "").slice(2), folder);
    expect(withoutNow(out)).toBe(withoutNow(step?.shown ?? ""));
  });

  test("evaluate a program that calls tools, and fail one whose fixtures do not answer", async () => {
    const folder = ownCopy();
    process.chdir(folder);
    const [step] = steps(section(page, "### A program with tools"));
    const words = wordsOf(step?.command ?? "").slice(2);
    const { out } = await assay(words, folder);
    expect(withoutNow(out)).toBe(withoutNow(step?.shown ?? ""));
    const suite = example("tools-suite.json").replaceAll("crm:find-customer", "crm:other");
    writeFileSync(join(folder, "tools-suite.json"), suite.replace("1.0.0", "1.0.1"));
    expect((await assay(words, folder)).out).toContain("crm:find-customer answered tool_not_allowed");
  });

  test("evaluate an endpoint", async () => {
    const folder = ownCopy();
    process.chdir(folder);
    const server = spawn(process.execPath, ["http-agent.mjs"], {
      env: { PORT: "0" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const url = await new Promise<string>((resolve) =>
        server.stdout.once("data", (said) => resolve(`${said}`.trim())),
      );
      const [, command = ""] = (codeBlocks(section(page, "### An endpoint"), "sh")[0] ?? "").split("\n");
      const words = wordsOf(command.replace("http://127.0.0.1:8000", url)).slice(2);
      expect(await assay(words, folder)).toMatchObject({ exit: 0, out: expect.stringContaining("20 of 20 tasks") });
    } finally {
      server.kill();
    }
  });

  test("evaluate a model with the key that the environment has, and not without", async () => {
    const model = await ModelServer.start(({ user }) =>
      chatStream({ text: [JSON.stringify({ refund: false, reason: `Food cannot be returned, said ${user}` })] }),
    );
    process.chdir(root);
    try {
      const file = JSON.parse(readFileSync(join(root, "examples/agents/model.json"), "utf8"));
      Object.assign(file.models.small, { provider: "openai-compatible", baseUrl: model.url, providerName: "openai" });
      const agents = join(tempDir(), "agents.json");
      writeFileSync(agents, JSON.stringify(file));
      const typed = codeBlocks(section(page, "### A model"), "sh")[0] ?? "";
      const command = typed.slice(typed.indexOf("npx assay")).replace("examples/agents/model.json", agents);
      const words = [...wordsOf(command).slice(2), "--data", tempDir()];
      delete process.env["OPENAI_API_KEY"];
      const without = await assay(words, root);
      expect(without).toMatchObject({ exit: 2, out: expect.stringContaining("OPENAI_API_KEY") });
      expect(model.calls).toHaveLength(0);
      process.env["OPENAI_API_KEY"] = "sk-for-this-test-alone";
      const { out } = await assay(words, root);
      expect(out).toMatch(/3 tasks × 5 trials/);
      expect(out).toMatch(/pass@5/);
      expect(new Set(model.calls.map(({ headers }) => headers["authorization"]))).toEqual(
        new Set(["Bearer sk-for-this-test-alone"]),
      );
      expect(model.calls[0]?.system).toContain("within 30 days");
    } finally {
      delete process.env["OPENAI_API_KEY"];
      await model.close();
    }
  });
});
