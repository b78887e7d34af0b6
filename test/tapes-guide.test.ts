import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { main } from "../src/cli/main.ts";
import { COMMANDS } from "../src/cli/program/commands.ts";
import { recordedIo } from "../src/testing/recorded-io.ts";
import { tempDir } from "../src/testing/temp-dir.ts";
import { assay } from "./cli/assay.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(join(root, "docs/tapes.md"), "utf8");

interface Step {
  readonly command: string;
  readonly shown: string;
}

/** What is typed after `$`, and what is shown below it. */
function steps(text: string): Step[] {
  const blocks = [...text.matchAll(/^```console\n(.*?)^```$/gms)].map(([, content = ""]) => content);
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((step) => {
        const [command = "", ...shown] = step.split("\n");
        return { command, shown: shown.join("\n") };
      }),
  );
}

/** As a shell would: words, and texts in quotes. */
function argumentsOf(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, one, other, word]) => one ?? other ?? word ?? "");
}

/** Times with milliseconds are those of the moment. */
function withoutNow(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<now>");
}

/** In this process, but for those that start another: they write to its own streams. */
async function run(args: string[], cwd: string, env: Record<string, string>): Promise<{ code: number; said: string }> {
  if (args.includes("--")) {
    const { code, stdout, stderr } = await assay(args, { cwd, env });
    return { code: code ?? -1, said: stdout + stderr };
  }
  process.chdir(cwd);
  const io = recordedIo();
  const code = await main(args, { io, env, cwd });
  return { code, said: io.outText() + io.errLines.map((line) => `${line}\n`).join("") };
}

afterAll(() => process.chdir(root));

describe("the guide to tapes", () => {
  test("shows what comes of its commands, in their order", async () => {
    const copy = join(tempDir(), "my-tapes");
    cpSync(join(root, "examples/tapes"), copy, { recursive: true });
    const env: Record<string, string> = {};
    let cwd = root;
    let exit = 0;
    for (const { command, shown } of steps(page)) {
      const [program, ...args] = argumentsOf(command);
      if (command === "cp -r examples/tapes my-tapes && cd my-tapes") cwd = copy;
      else if (program === "cd") cwd = join(root, args[0] ?? "");
      else if (program === "export") Object.assign(env, Object.fromEntries([(args[0] ?? "").split("=")]));
      else if (program === "echo") expect(`${exit}\n`).toBe(shown);
      else {
        const { code, said } = await run(args.slice(1), cwd, env);
        expect(withoutNow(said), command).toBe(withoutNow(shown));
        exit = code;
      }
    }
  });

  test("has a row for every command about tapes", () => {
    const table = page.slice(page.indexOf("## Commands and exit codes"));
    const listed = [...table.matchAll(/^\| `(tape [\w-]+)` \|/gm)].map(([, name = ""]) => name);
    const known = COMMANDS.map(({ name }) => name).filter((name) => name.startsWith("tape "));
    expect(listed.sort()).toEqual(known.sort());
  });
});
