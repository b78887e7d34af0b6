import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../src/cli/specs/all.ts";
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

/** As a shell would: words, and texts in double quotes. */
function argumentsOf(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");
}

/** Times with milliseconds are those of the moment. */
function withoutNow(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<now>");
}

describe("the guide to tapes", () => {
  test("shows what comes of its commands, in their order", async () => {
    const cwd = join(tempDir(), "my-tapes");
    const env: Record<string, string> = {};
    let exit = "";
    for (const { command, shown } of steps(page)) {
      const [program, ...args] = argumentsOf(command);
      if (program === "cp") {
        cpSync(join(root, "examples/tapes"), cwd, { recursive: true });
      } else if (program === "export") {
        const [name = "", value = ""] = (args[0] ?? "").split("=");
        env[name] = value;
      } else if (program === "echo") {
        expect(exit).toBe(shown);
      } else {
        const { code, stdout, stderr } = await assay(args.slice(1), { cwd, env });
        expect(withoutNow(stdout + stderr), command).toBe(withoutNow(shown));
        exit = `${code}\n`;
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
